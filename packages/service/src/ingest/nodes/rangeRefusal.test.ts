import { describe, expect, test } from 'vitest';
import { SourceError } from '../source.ts';
import { parseRangeRefusal } from './rangeRefusal.ts';
import { REFUSALS } from './refusals.test-only.ts';
import { nameNode, readResult } from './rpcError.ts';

const NODE = nameNode('node', 'https://node.example');

describe('a refused range', () => {
  test.each(REFUSALS)(
    'of $provider has its kind and suggests a range',
    ({ code, text, data, status = 200, isPlain, kind = 'too-large', suggests }) => {
      const answer = isPlain === true ? text : { id: 1, error: { code, message: text, data } };
      let refused: unknown;
      try {
        readResult(NODE, 'eth_getLogs', answer, { status, retryAfter: undefined });
      } catch (error) {
        refused = error;
      }
      expect(refused).toBeInstanceOf(SourceError);
      expect(refused).toMatchObject({ kind, ...(kind === 'too-large' && { range: suggests }) });
    },
  );

  test('with a range that ends before it begins suggests nothing', () => {
    expect(parseRangeRefusal('Try with this block range [0x20, 0x10]')).toEqual({});
    expect(parseRangeRefusal('retry with the range 500-100')).toEqual({});
  });

  test.each([
    'query returned more than 10000 results',
    'query returned more than 10,000 logs',
    'response size should not greater than 10000000 bytes',
    'block range is too wide',
    'requested range 25887126 - 25897126 is too large',
  ])('that counts something else, or nothing, suggests nothing: %s', (text) => {
    expect(parseRangeRefusal(text)).toEqual({});
  });

  test('is not found in an error of another method', () => {
    const answer = { id: 1, error: { code: -32000, message: 'gas exceeds limit of 10' } };
    expect(() => readResult(NODE, 'eth_call', answer)).toThrow(
      expect.objectContaining({ kind: 'refused' }) as Error,
    );
  });
});
