import { expect, test } from 'vitest';
import { createLog } from '../base/log.ts';
import { readHash, readHex, toList, toObject, toNumber } from './json.ts';
import { SourceError } from './source.ts';

const HUGE = 'x'.repeat(20_000_000);
const HUGE_HEX = `0x${'1'.repeat(20_000_000)}`;

test.each<[string, () => unknown]>([
  ['a block', () => toObject(HUGE, 'block')],
  ['a list', () => toList({ a: HUGE }, 'logs')],
  ['a number', () => readHex({ number: HUGE }, 'number')],
  ['a quantity', () => toNumber(HUGE_HEX)],
  ['a hash', () => readHash({ hash: HUGE_HEX }, 'hash')],
])('%s of 20 MB is not repeated in the error', (_, read) => {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(SourceError);
    expect((error as SourceError).message.length).toBeLessThan(200);
    return;
  }
  throw new Error('the input was accepted');
});

test('no node response makes an error message or a log line long', () => {
  expect(new SourceError('missing', HUGE).message).toHaveLength(1_001);
  for (const format of ['text', 'json'] as const) {
    const lines: string[] = [];
    createLog((line) => lines.push(line), format).warn('chain down', { reason: HUGE });
    expect(lines[0]!.length).toBeLessThan(10_000);
  }
});
