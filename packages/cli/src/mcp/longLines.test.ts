import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dropLongLines } from './longLines.ts';

const MAX = 8;

test('lines up to the limit are passed on, however they are divided into chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 3 * MAX })),
      fc.array(fc.integer({ min: 1, max: 2 * MAX }), { minLength: 1 }),
      async (lines, sizes) => {
        const input = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const chunks: Buffer[] = [];
        for (let at = 0, n = 0; at < input.length; n++) {
          const size = sizes[n % sizes.length]!;
          chunks.push(input.subarray(at, at + size));
          at += size;
        }
        let dropped = 0;
        const kept = await text(Readable.from(chunks).pipe(dropLongLines(MAX, () => dropped++)));
        const short = lines.filter((line) => line.length < MAX);
        expect(kept).toBe(short.map((line) => `${line}\n`).join(''));
        expect(dropped).toBe(lines.length - short.length);
      },
    ),
  );
});
