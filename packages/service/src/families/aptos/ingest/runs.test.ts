import { expect, test } from 'vitest';
import { SourceError } from '../../../ingest/source.ts';
import { createAptosRuns } from './runs.ts';

/**
 * Creates runs that fail to read transactions. `opened` lists the heights whose bounds were read.
 */
function open() {
  const opened: number[] = [];
  const runs = createAptosRuns({
    readBounds(number) {
      opened.push(number);
      return Promise.resolve({
        number,
        hash: `0x${number}`,
        parentHash: '0x0',
        timestamp: 0,
        firstVersion: number,
        lastVersion: number,
      });
    },
    readPage: () => Promise.reject(new SourceError('inconsistent', 'a version is missing')),
    hashAt: () => undefined,
    ledgerVersion: () => Number.MAX_SAFE_INTEGER,
  });
  const read = (height: number) => runs.read(height).catch((error: Error) => error.message);
  return { runs, read, opened };
}

test('concurrent reads open one run, and a read far ahead gets its own', async () => {
  const { runs, read, opened } = open();
  expect(runs.isReading()).toBe(false);
  await Promise.all([read(100), read(101), read(9_000)]);
  expect(opened).toEqual([100, 99, 9_000, 8_999]);
});

test('a run that omits a version is discarded, and the next read opens a new one', async () => {
  const { runs, read, opened } = open();
  expect(await read(100)).toBe('a version is missing');
  expect(runs.isReading()).toBe(false);
  await read(100);
  expect(opened).toEqual([100, 99, 100, 99]);
});
