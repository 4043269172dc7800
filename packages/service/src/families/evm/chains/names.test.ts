/** Tests ENS names whose resolver is hostile. */
import { type RunningScriptedChain, startScriptedChain } from '@sluice/testkit';
import { type Hex, encodeAbiParameters, parseAbiParameters, toHex } from 'viem';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLog } from '../../../base/log.ts';
import { createEvmSource } from '../ingest/evm.ts';
import type { EvmSource } from '../ingest/source.ts';
import { createNameReader } from './names.ts';

const RESOLVER = `0x${'50'.repeat(20)}` as const;
const ADDRESS = `0x${'70'.repeat(20)}` as const;

let chain: RunningScriptedChain;
let source: EvmSource;
let readName: ReturnType<typeof createNameReader>;
beforeEach(async () => {
  chain = await startScriptedChain({ chainId: 1 });
  chain.mineMany(3);
  source = createEvmSource({
    chain: '0x1',
    urls: [chain.url],
    pollMs: 1_000,
    log: createLog(() => {}),
  });
  readName = createNameReader(source);
});
afterEach(async () => {
  await source.stop();
  await chain.stop();
});

/** Encodes the result of the Universal Resolver around what the resolver returned. */
const wrap = (result: Hex): Hex =>
  encodeAbiParameters(parseAbiParameters('bytes, address'), [result, RESOLVER]);
const word = (text: string): Hex => `0x${text.padStart(64, '0')}`;

test('a name resolves, and a name without an address does not', async () => {
  chain.answerCalls(() => wrap(word(ADDRESS.slice(2))));
  expect(await readName('a.eth')).toBe(ADDRESS);
  for (const nothing of [wrap('0x'), wrap(word('0'))]) {
    chain.answerCalls(() => nothing);
    expect(await readName('a.eth')).toBeUndefined();
  }
});

const text = (value: string): Hex => toHex(new TextEncoder().encode(value));
test.each<[string, Hex]>([
  ['nothing decodable', '0xff'],
  ['an address with a dirty prefix', wrap(`0x${'01'.repeat(12)}${ADDRESS.slice(2)}`)],
  ['half a word', wrap('0x7070')],
  ['text in place of an address', wrap(text('\u202Emoc.live\u0000'.padEnd(32, '!')))],
  ['an offset beyond the end', `0x${'ff'.repeat(64)}`],
  ['a length beyond the end', `${word('40')}${'0'.repeat(64)}${'f'.repeat(64)}`],
  ['a result that contains itself', `${word('0')}${'0'.repeat(64)}`],
])('a resolver that returns %s is reported in fixed words', async (_what, answer) => {
  chain.answerCalls(() => answer);
  await expect(readName('a.eth')).rejects.toMatchObject({
    kind: 'inconsistent',
    message: 'the name did not resolve to a valid address',
  });
});

test('a resolver that returns a megabyte is refused, and does not count against the node', async () => {
  chain.answerCalls(() => wrap(`0x${'ff'.repeat(1_000_000)}`));
  await expect(readName('a.eth')).rejects.toMatchObject({ kind: 'too-large' });
  expect(source.providers()[0]).toMatchObject({ state: 'good', failures: 0 });
});

test.each([
  ['a megabyte', 'x'.repeat(1_000_000)],
  ['the words of a lagging node', 'header not found'],
  ['the words of a rate limit', 'HTTP 429: too many requests, rate limit exceeded'],
  ['control and bidirectional characters', '\u202E\u0007\u001B[31m'],
])('a resolver that reverts with %s does not count against the node', async (_what, reason) => {
  chain.answerCalls(() => {
    throw new Error(reason);
  });
  const found = await readName('a.eth').catch((error: unknown) => error);
  if (found !== undefined) expect(found).toMatchObject({ kind: 'too-large' });
  expect(source.providers()[0]).toMatchObject({ state: 'good', failures: 0 });
});

test('resolvers that hang delay no other request, end in time, and do not count against the node', async () => {
  chain.trouble({ kind: 'hang', methods: ['eth_call'] });
  const readSoon = createNameReader(source, 2_000);
  const names = Array.from({ length: 40 }, (_, n) =>
    readSoon(`${n}.eth`).catch((error: unknown) => (error as Error).message),
  );
  await expect.poll(() => chain.calls['eth_call']).toBeGreaterThan(0);
  let isLate = false;
  const late = Promise.all(names).then(() => (isLate = true));
  const head = await source.readHead();
  await source.requestAt(head, 'eth_getBalance', [ADDRESS, toHex(head.number)]);
  await source.findTransaction(`0x${'ab'.repeat(32)}`);
  expect(isLate).toBe(false);
  await late;
  const messages = await Promise.all(names);
  const counts = (pattern: RegExp) => messages.filter((each) => pattern.test(String(each))).length;
  expect(counts(/did not resolve within 2 s/)).toBe(16);
  expect(counts(/Try again later/)).toBe(24);
  // The calls still wait for their resolvers.
  await expect(readSoon('a.eth')).rejects.toThrow('Try again later');
  expect(source.providers()[0]).toMatchObject({ state: 'good', failures: 0 });
});

test('names make room for the next, whether they resolve or fail', async () => {
  chain.answerCalls(() => '0xff');
  for (let n = 0; n < 20; n++) {
    await expect(readName('a.eth')).rejects.toMatchObject({ kind: 'inconsistent' });
  }
  chain.answerCalls(() => wrap(word(ADDRESS.slice(2))));
  for (let n = 0; n < 20; n++) expect(await readName('a.eth')).toBe(ADDRESS);
});

test('names that are refused take no room', async () => {
  const answer = Promise.withResolvers<unknown>();
  const read = createNameReader({
    readHead: () => Promise.resolve({ number: 1, hash: '0x1', parentHash: '0x0', timestamp: 1 }),
    requestAt: () => answer.promise,
  });
  const names = Array.from({ length: 16 }, (_, n) => read(`${n}.eth`));
  for (let n = 0; n < 16; n++) await expect(read('a.eth')).rejects.toThrow('Try again later');
  answer.resolve(wrap(word(ADDRESS.slice(2))));
  expect(await Promise.all(names)).toEqual(names.map(() => ADDRESS));
  expect(await read('a.eth')).toBe(ADDRESS);
});
