import { describe, expect, test } from 'vitest';
import { readResult } from './rpcError.ts';
import { SourceError } from '../source.ts';

function errorOf(read: () => unknown): SourceError {
  try {
    read();
  } catch (error) {
    if (error instanceof SourceError) return error;
    throw error;
  }
  throw new Error('a result was returned');
}
const refuse = (code: number, message: string): SourceError =>
  errorOf(() =>
    readResult(
      'node',
      'eth_x',
      { id: 1, error: { code, message } },
      {
        status: 200,
        retryAfter: undefined,
      },
    ),
  );
const answer = (status: number, retryAfter?: string): SourceError =>
  errorOf(() => readResult('node', 'eth_x', undefined, { status, retryAfter }));

describe('a response of a node', () => {
  test.each([
    // Infura and others use -32005 both for results that are too large and for rate limits.
    [-32005, 'query returned more than 10000 results', 'too-large'],
    [-32005, 'daily request count exceeded, request rate limited', 'rate-limited'],
    [-32005, 'limit exceeded', 'rate-limited'],
    [-32016, 'exceeded', 'rate-limited'],
    [-32000, 'Too many requests, please slow down', 'rate-limited'],
    [-32000, 'project ID has exceeded the quota', 'rate-limited'],
    [429, 'Your app has exceeded its compute units per second capacity', 'rate-limited'],
    [-32602, 'Log response size exceeded', 'too-large'],
    [-32000, 'query exceeds max block range 1000', 'too-large'],
    [-32008, 'Response is too large: response size exceeded the limit', 'too-large'],
    // Most of these messages are from geth, Nethermind, Erigon and Reth.
    [-32601, 'the method eth_getBlockReceipts does not exist/is not available', 'unsupported'],
    [-32600, 'debug_traceBlockByHash is not available on the Free tier', 'unsupported'],
    [-32004, 'no', 'unsupported'],
    [-32000, 'header not found', 'missing'],
    [-32000, 'block 0x12ab not found', 'missing'],
    [-32000, 'unknown block', 'missing'],
    [-32000, 'missing trie node 0xab (path )', 'missing'],
    [-32001, 'resource not found', 'missing'],
    [-32000, 'state at block #5 is pruned', 'missing'],
    [3, 'execution reverted: rate limit', 'refused'],
    [-32000, 'execution reverted: block not found', 'refused'],
    [-32000, 'internal error', 'refused'],
    [-32602, 'invalid argument 0', 'refused'],
  ])('with error %i %s is %s', (code, message, kind) => {
    expect(refuse(code, message)).toMatchObject({
      kind,
      message: `node: eth_x failed: ${message} (${code})`,
    });
  });

  test('without JSON-RPC is classified by its HTTP status', () => {
    expect(answer(429).kind).toBe('rate-limited');
    expect(answer(413).kind).toBe('too-large');
    expect(answer(502)).toMatchObject({ kind: 'unreachable', message: /HTTP 502/ });
    expect(answer(200)).toMatchObject({ kind: 'unreachable', message: /URL of a node/ });
  });

  test('has a Retry-After in seconds or as a date, up to five minutes, else of one second', () => {
    expect(answer(429, '7').retryAfterMs).toBe(7_000);
    expect(answer(429, '0').retryAfterMs).toBe(0);
    expect(answer(429, '315360000').retryAfterMs).toBe(300_000);
    for (const nonsense of [undefined, '', 'soon', '-5']) {
      expect(answer(429, nonsense).retryAfterMs).toBe(1_000);
    }
    const inAMinute = answer(429, new Date(Date.now() + 60_000).toUTCString()).retryAfterMs!;
    expect(inAMinute).toBeGreaterThan(55_000);
    expect(inAMinute).toBeLessThanOrEqual(60_000);
  });

  test('to a reverted call keeps its data', () => {
    const value = { error: { code: 3, message: 'execution reverted', data: '0x08' } };
    expect(errorOf(() => readResult('node', 'eth_call', value))).toMatchObject({
      kind: 'refused',
      rpcCode: 3,
      data: '0x08',
    });
  });

  test('can have any result, including null', () => {
    expect(readResult('node', 'eth_x', { result: null })).toBe(null);
    expect(readResult('node', 'eth_x', { result: [1], error: null })).toEqual([1]);
  });
});
