import { eachCall } from '@sluice/kit/calls';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bodyLimitOf, isDeeper } from './body.ts';

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
    : 0;

test('property: the scanned depth equals that of the parsed value, regardless of its strings', () => {
  const text = fc.oneof(fc.string(), fc.stringMatching(/^["\\[\]{}]{0,20}$/));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'large' },
      text,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(text, tie('value'), { maxKeys: 3 }),
    ),
  }));
  fc.assert(
    fc.property(value, fc.integer({ min: 0, max: 12 }), fc.boolean(), (each, levels, isWide) => {
      const json = Buffer.from(JSON.stringify(each, undefined, isWide ? 1 : 0));
      expect(isDeeper(json, levels)).toBe(depthOf(each) > levels);
    }),
  );
});

test('invalid JSON is scanned to its end', () => {
  for (const text of ['"', '"\\', ']]]', '{"a":"\\"[[[', '']) {
    expect(isDeeper(Buffer.from(text), 2)).toBe(false);
  }
});

test('only the address calls accept more than 1 MiB, and calls without a key 4 KiB', () => {
  const limits = eachCall.map(([name, call]) => [name, bodyLimitOf(call)] as const);
  const above = limits.filter(([, bytes]) => bytes > 1_048_576);
  expect(above).toEqual(
    ['addEvmAddresses', 'removeEvmAddresses', 'replaceEvmAddresses']
      .concat('addAptosAddresses', 'removeAptosAddresses')
      .map((name) => [name, 67_108_864]),
  );
  expect(Object.fromEntries(limits)).toMatchObject({ createSession: 4_096, deleteSession: 4_096 });
});
