import { describe, expect, test } from 'vitest';
import { isTransient, nameNode, readResult } from './rpcError.ts';
import { SourceError } from '../source.ts';

const NODE = nameNode('node', 'https://node.example/v2/Key-0f3a_9Zq');

function errorOf(read: () => unknown): SourceError {
  try {
    read();
  } catch (error) {
    if (error instanceof SourceError) return error;
    throw error;
  }
  throw new Error('a result was returned');
}
const ok = { status: 200, retryAfter: undefined };
const refuse = (code: number, message: string, data?: unknown, method = 'eth_x'): SourceError =>
  errorOf(() => readResult(NODE, method, { id: 1, error: { code, message, data } }, ok));
const answer = (status: number, retryAfter?: string, body?: unknown): SourceError =>
  errorOf(() => readResult(NODE, 'eth_x', body, { status, retryAfter }));

describe('a response of a node', () => {
  test.each([
    ['an error', () => refuse(-32000, 'no key Key-0f3a_9Zq\u202e, or data')],
    ['nested data', () => refuse(-32000, 'no', { cause: 'no key Key-0f3a_9Zq\u202e, or data' })],
    ['a page', () => answer(502, undefined, '<b>no key Key-0f3a_9Zq\u202e, or data</b>')],
    [
      'a code',
      () => errorOf(() => readResult(NODE, 'eth_x', { error: { code: 'Key-0f3a_9Zq, or data' } })),
    ],
  ])('is cleaned and masked in the message of %s', (_, read) => {
    const { message } = read();
    expect(message).toContain('***, or data');
    expect(message).not.toMatch(/0f3a|\u202e/);
  });

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
    [-32008, 'Response is too big', 'too-large'],
    [-32000, 'response too big', 'too-large'],
    [-32008, 'no', 'too-large'],
    // QuickNode's text depends on the plan.
    [-32007, '100/second request limit reached - reduce calls per second', 'rate-limited'],
    [-32007, 'no', 'rate-limited'],
    [-32090, 'requests limited to 25/second', 'rate-limited'],
    [-32000, 'the network is under too much load', 'rate-limited'],
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
    [-32602, 'block range extends beyond current head block: requested 12, head 9', 'missing'],
    [-32602, 'block range extends beyond current head block', 'missing'],
    [-32000, 'block 12 is beyond the latest block 9 of this node, retry later', 'missing'],
    [-32000, 'requested block is ahead of the chain head', 'missing'],
    [-32000, 'fromBlock is greater than latest block', 'missing'],
    [-32000, 'The fromBlock or blockhash cannot be found', 'missing'],
    [4444, 'pruned history unavailable', 'pruned'],
    [-32000, 'Receipt not available for From block 14319330.', 'pruned'],
    [-32000, 'seek with txNum=1 but data before txNum=2 is not available', 'pruned'],
    [-32602, 'Archive requests require a personal token', 'pruned'],
    [-32000, 'this request needs an archive node', 'pruned'],
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
    expect(answer(400).kind).toBe('refused');
    expect(answer(422).kind).toBe('refused');
    expect(answer(502)).toMatchObject({ kind: 'unreachable', message: /HTTP 502/ });
    expect(answer(200)).toMatchObject({ kind: 'unreachable', message: /URL of a node/ });
    expect(answer(200, undefined, '<html>')).toMatchObject({ kind: 'unreachable' });
  });

  test('without JSON-RPC has the kind that its text states', () => {
    const page = '<html><title>Error</title><p>The response is too\n large</p></html>';
    expect(answer(500, undefined, page)).toMatchObject({
      kind: 'too-large',
      message: 'node: eth_x returned HTTP 500: Error The response is too large',
    });
    expect(answer(403, '7', 'Rate limit exceeded')).toMatchObject({
      kind: 'rate-limited',
      retryAfterMs: 7_000,
    });
    expect(answer(500, undefined, { message: 'Too Many Requests' }).kind).toBe('rate-limited');
    // A page of a proxy says nothing about methods or blocks.
    expect(answer(404, undefined, '<h1>404 Not Found</h1>').kind).toBe('unreachable');
    expect(answer(503, undefined, 'block unavailable').kind).toBe('unreachable');
  });

  test('with an HTTP error is classified by its JSON-RPC error', () => {
    const body = (message: string) => ({ error: { code: -32000, message } });
    expect(answer(400, undefined, body('header not found')).kind).toBe('missing');
    expect(answer(500, undefined, body('no')).kind).toBe('refused');
    expect(answer(413, undefined, body('no')).kind).toBe('too-large');
    expect(answer(413, undefined, body('header not found')).kind).toBe('missing');
  });

  test.each([
    ['a text', 'response too large'],
    ['an object', { payload: 'response too large' }],
    ['nested objects', { error: { cause: { reason: 'response too large' } } }],
    ['a list', [{ id: 1 }, { message: 'response too large' }]],
    ['JSON in a text', '{"code":-32000,"message":"response too large"}'],
  ])('may state its reason in data that is %s', (_what, data) => {
    expect(refuse(-32602, 'invalid params', data)).toMatchObject({
      kind: 'too-large',
      message: /^node: eth_x failed: invalid params; .*response too large/,
    });
  });

  test('may be an error that is only a text', () => {
    const read = () => readResult(NODE, 'eth_x', { error: 'response too large' }, ok);
    expect(errorOf(read)).toMatchObject({
      kind: 'too-large',
      message: 'node: eth_x failed: response too large',
    });
  });

  test('with a huge or endless error is read in bounded time', () => {
    const nested = (depth: number): unknown => (depth === 0 ? 'x' : { data: nested(depth - 1) });
    const wide = Array.from({ length: 100_000 }, (_, n) => ({ message: `reason ${n}` }));
    for (const data of ['x'.repeat(10_000_000), nested(1_000), wide]) {
      const error = refuse(-32000, 'no', data);
      expect(error.kind).toBe('refused');
      expect(error.message.length).toBeLessThan(400);
    }
  });

  test('to eth_getLogs without a rate is a limit of its range', () => {
    expect(refuse(-32005, 'limit exceeded', undefined, 'eth_getLogs').kind).toBe('too-large');
    expect(refuse(-32005, 'rate limit exceeded', undefined, 'eth_getLogs').kind).toBe(
      'rate-limited',
    );
  });

  test.each([
    [-32603, 'service temporarily unavailable', true],
    [-32603, 'Internal error', true],
    [-32000, 'request timed out', true],
    [-32000, 'context deadline exceeded', true],
    [-32000, 'header not found', true],
    [-32602, 'Invalid params', false],
    [-32601, 'no such method', false],
    [-32000, 'Archive requests require a personal token', false],
    [3, 'execution reverted: try again', false],
    [-32008, 'Response is too big', false],
  ])('with error %i %s is temporary: %s', (code, message, expected) => {
    expect(isTransient(refuse(code, message))).toBe(expected);
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
    expect(errorOf(() => readResult(NODE, 'eth_call', value))).toMatchObject({
      kind: 'refused',
      rpcCode: 3,
      data: '0x08',
    });
  });

  test('can have any result, including null', () => {
    expect(readResult(NODE, 'eth_x', { result: null })).toBe(null);
    expect(readResult(NODE, 'eth_x', { result: [1], error: null })).toEqual([1]);
  });
});
