import { Transform } from 'node:stream';

const NEWLINE = 0x0a;

/**
 * Creates a stream that passes on complete lines, and drops lines that are longer than `maxBytes`
 * without keeping them in memory.
 *
 * @param maxBytes maximum size of a line with its newline
 * @param onDrop called once for each dropped line
 */
export function dropLongLines(maxBytes: number, onDrop: () => void): Transform {
  let parts: Buffer[] = [];
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let start = 0; start < chunk.length;) {
        const newline = chunk.indexOf(NEWLINE, start);
        const end = newline === -1 ? chunk.length : newline + 1;
        const isTooLong = size > maxBytes;
        size += end - start;
        if (size <= maxBytes) parts.push(chunk.subarray(start, end));
        else {
          parts = [];
          if (!isTooLong) onDrop();
        }
        if (newline !== -1) {
          if (parts.length > 0) this.push(Buffer.concat(parts));
          parts = [];
          size = 0;
        }
        start = end;
      }
      done();
    },
  });
}
