import { expect, test } from 'vitest';
import { isolateName, nameOfStream, nameOfStreamId, withoutTurns } from './names.ts';

test('a stream is named by its tag, else its description, else its id', () => {
  const stream = { tag: 'deposits', description: 'All deposits', id: 'a-1' };
  expect(nameOfStream(stream)).toBe('deposits');
  expect(nameOfStream({ ...stream, tag: '' })).toBe('All deposits');
  expect(nameOfStream({ tag: '', id: 'a-1' })).toBe('a-1');
  expect(nameOfStreamId('a-1', [stream])).toBe('deposits');
  expect(nameOfStreamId('b-2', [stream])).toBe('b-2');
  expect(nameOfStreamId('b-2', undefined)).toBe('b-2');
});

test('a name does not change the direction of other text, and most names stay as they are', () => {
  expect(isolateName('whale-usdt ≥ 1M €')).toBe('whale-usdt ≥ 1M €');
  expect(isolateName('\u202egnp.exe')).toBe('\u2068gnp.exe\u2069');
  // In the name, U+2069 (pop directional isolate) would end the isolate.
  expect(isolateName('a\u2069\u202eb')).toBe('\u2068ab\u2069');
  expect(isolateName('הפקדות')).toBe('\u2068הפקדות\u2069');
  expect(withoutTurns(isolateName('\u202egnp'))).toBe('gnp');
});
