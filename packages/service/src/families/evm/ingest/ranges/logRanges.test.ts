import {
  type RunningScriptedChain,
  type Trouble,
  createScriptedChain,
  scripted,
  startScriptedChain,
} from '@sluice/testkit';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createLog } from '../../../../base/log.ts';
import type { LogSearch } from '../../../../match/logSearch.ts';
import { REFUSALS, limitOf, toTrouble } from '../../../../ingest/nodes/refusals.test-only.ts';
import { type FoundBlocks, isOfKind } from '../../../../ingest/source.ts';
import type { EvmSource } from '../source.ts';
import { type EvmSourceOptions, createEvmSource } from '../evm.ts';

const TOKEN = `0x${'70'.repeat(20)}` as const;
const EVENT = `0x${'0a'.repeat(32)}` as const;
const BLOCKS = 600;
const search: LogSearch = {
  plans: [[{ address: [TOKEN], topics: [[EVENT]] }]],
  takes: ({ logs }) => logs.some(({ address }) => address === TOKEN),
};

const chain = createScriptedChain();
const hits: number[] = [];
for (let number = 1; number <= BLOCKS; number++) {
  const isHit = number % 37 === 0;
  if (isHit) hits.push(number);
  const log = scripted.log({ address: TOKEN, topics: [EVENT] });
  chain.mine({ transactions: isHit ? [log] : [] });
}

let nodes: RunningScriptedChain[] = [];
let source: EvmSource;
afterEach(async () => {
  vi.restoreAllMocks();
  await source.stop();
  for (const node of nodes) await node.stop();
});

/** @param troubles one list of faults per node */
async function start(
  troubles: readonly (readonly Trouble[])[],
  options: Partial<EvmSourceOptions> = {},
): Promise<void> {
  nodes = await Promise.all(troubles.map(() => startScriptedChain({ chain })));
  for (const [n, each] of troubles.entries()) for (const one of each) nodes[n]!.trouble(one);
  source = createEvmSource({
    chain: '0x7a69',
    urls: nodes.map(({ url }) => url),
    pollMs: 1_000,
    log: createLog(() => {}),
    ...options,
  });
}

/**
 * Searches all blocks and returns the results; the last is undefined if the search ended early.
 */
async function findAll(
  of: LogSearch = search,
  isTriedAgain: (error: unknown) => boolean = () => false,
): Promise<(FoundBlocks | undefined)[]> {
  const found: (FoundBlocks | undefined)[] = [];
  const blocks = source.openSearch!(of);
  for (let from = 1; from <= BLOCKS;) {
    try {
      const next = await blocks.next(from, BLOCKS);
      found.push(next);
      if (next === undefined) break;
      from = next.end.number + 1;
    } catch (error) {
      if (!isTriedAgain(error)) throw error;
    }
  }
  return found;
}

const isUnreachable = (error: unknown): boolean => isOfKind(error, 'unreachable');

const numbersOf = (found: readonly (FoundBlocks | undefined)[]): number[] =>
  found.flatMap((each) => each?.hits.map(({ number }) => number) ?? []);

describe('a search by ranges', () => {
  test('finds blocks with few queries, without proofs', async () => {
    await start([[]]);
    const found = await findAll();
    expect(numbersOf(found)).toEqual(hits);
    expect(found.every((each) => each?.isProven === false)).toBe(true);
    expect(nodes[0]!.calls['eth_getLogs']).toBeLessThan(4);
    expect(found.length).toBeLessThan(4);
    // The node has returned the last block of each round already.
    expect(nodes[0]!.calls['eth_getBlockByHash']).toBeUndefined();
  });

  test('follows the limit of a node', async () => {
    await start([[{ kind: 'rangeLimit', blocks: 50 }]]);
    expect(numbersOf(await findAll())).toEqual(hits);
    // One refusal is enough to learn the limit; the last range of a round may be smaller.
    expect(nodes[0]!.calls['eth_getLogs']).toBe(1 + 3 + Math.ceil((BLOCKS - 128) / 50));
  });

  test.each(REFUSALS)('ends in data if $provider refuses a range: $text', async (refusal) => {
    await start([[toTrouble(refusal)]]);
    const found = await findAll();
    const queries = nodes[0]!.calls['eth_getLogs'];
    const limit = limitOf(refusal);
    if (limit === 0) {
      expect(found).toEqual([undefined]);
      expect(queries).toBeLessThan(20);
    } else {
      expect(numbersOf(found)).toEqual(hits);
      expect(queries).toBeLessThan(Math.ceil(BLOCKS / limit) * 1.1 + 20);
    }
  });

  test('stops using a node that hides logs, if another has them', async () => {
    await start([[{ kind: 'emptyLogs' }], []]);
    expect(numbersOf(await findAll())).toEqual(hits);
    const queries = nodes[0]!.calls['eth_getLogs'];
    await findAll();
    expect(nodes[0]!.calls['eth_getLogs']).toBe(queries);
  });

  test('with verify=headers finds what a single node hides, and proves the rest', async () => {
    await start([[{ kind: 'emptyLogs' }]], { verifyHeaders: true });
    const found = await findAll();
    expect(numbersOf(found)).toEqual(hits);
    expect(found.every((each) => each!.isProven)).toBe(true);
  });

  test('with verify=headers proves nothing on a chain whose blooms are empty', async () => {
    await start([[{ kind: 'emptyBloom' }]], { verifyHeaders: true });
    const found = await findAll();
    expect(numbersOf(found)).toEqual(hits);
    expect(found.some((each) => each!.isProven)).toBe(false);
  });

  test('with verify=headers rejects a bloom that hides a log, where headers are always proven', async () => {
    const lies = [{ kind: 'wrongChainId', chainId: 1 }, { kind: 'emptyLogs' }] as const;
    await start([lies], { chain: '0x1', verifyHeaders: true });
    expect(numbersOf(await findAll())).toEqual(hits);
    nodes[0]!.trouble({ kind: 'emptyBloom', methods: ['eth_getBlockByNumber'] });
    await expect(findAll()).rejects.toMatchObject({ kind: 'inconsistent' });
  });

  test('with trust=node reads no range from a second node', async () => {
    const limit = { kind: 'rangeLimit', blocks: 10 } as const;
    await start([[limit], [limit]], { trust: 'node' });
    expect(numbersOf(await findAll())).toEqual(hits);
    const queries = nodes.reduce((sum, { calls }) => sum + (calls['eth_getLogs'] ?? 0), 0);
    // If one node is slow, the other may be queried for the same ranges.
    expect(queries).toBeLessThan(1.5 * (BLOCKS / limit.blocks));
  });

  test('gives up for an hour if the node refuses all ranges', async () => {
    let laterMs = 0;
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + laterMs);
    await start([[{ kind: 'error', message: 'upgrade your plan', methods: ['eth_getLogs'] }]]);
    expect(await findAll()).toEqual([undefined]);
    const queries = nodes[0]!.calls['eth_getLogs'];
    expect(queries).toBeLessThan(20);
    laterMs = 3_500_000;
    nodes[0]!.heal();
    expect(await findAll()).toEqual([undefined]);
    expect(nodes[0]!.calls['eth_getLogs']).toBe(queries);
    laterMs = 3_700_000;
    expect(numbersOf(await findAll())).toEqual(hits);
  });

  test('queries the next node, not smaller ranges, if a node lags', async () => {
    const code = -32602;
    const message = 'block range extends beyond current head block: requested 9, head 7';
    const lag = { kind: 'error', code, message, methods: ['eth_getLogs'], times: 2 } as const;
    await start([[lag], []]);
    expect(numbersOf(await findAll())).toEqual(hits);
    expect(nodes[0]!.calls['eth_getLogs']! + nodes[1]!.calls['eth_getLogs']!).toBeLessThan(10);
  });

  test('stops using a node that found blocks that do not exist, once they could not be read', async () => {
    await start([[{ kind: 'foreignLogs', methods: ['eth_getLogs'] }]]);
    const blocks = source.openSearch!(search);
    const invented = (await blocks.next(1, BLOCKS))!.hits[0]!;
    const needs = { transactions: false, logs: true, traces: false, proofs: false };
    await expect(source.readBlock(invented, needs)).rejects.toMatchObject({ kind: 'missing' });
    await expect(blocks.next(1, BLOCKS)).rejects.toMatchObject({ kind: 'inconsistent' });
    expect(await blocks.next(1, BLOCKS)).toBeUndefined();
  });

  test('needs few queries where the node suggests ranges that are too small', async () => {
    const message = 'this block range should work: [$from, $from]';
    await start([[{ kind: 'resultLimit', logs: 3, message }]]);
    expect(numbersOf(await findAll())).toEqual(hits);
    expect(nodes[0]!.calls['eth_getLogs']).toBeLessThan(BLOCKS / 4);
  });

  test('continues with smaller ranges after pages of HTML, and gives up if they do not end', async () => {
    const page = { kind: 'httpError', status: 502, methods: ['eth_getLogs'] } as const;
    await start([[{ ...page, times: 3 }]]);
    expect(numbersOf(await findAll(search, isUnreachable))).toEqual(hits);
    nodes[0]!.trouble(page);
    expect(await findAll(search, isUnreachable)).toEqual([undefined]);
  });

  test('is not used if it takes more queries than there are blocks, and is tried again later', async () => {
    await start([[{ kind: 'rangeLimit', blocks: 1, message: 'Block range limit exceeded.' }]]);
    const filter = search.plans[0]![0]!;
    const wide = { ...search, plans: [Array(5).fill(filter)] };
    const blocks = source.openSearch!(wide);
    const found = [await blocks.next(1, BLOCKS), await blocks.next(129, BLOCKS)];
    expect(numbersOf(found)).toEqual([37, 74, 111]);
    expect(found[1]).toBeUndefined();
    nodes[0]!.heal();
    expect(numbersOf([await blocks.next(129, BLOCKS)])).toEqual([148, 185, 222]);
  });

  test('continues on the node that a second one with fewer logs verifies', async () => {
    await start([[], [{ kind: 'emptyLogs' }]]);
    expect(numbersOf(await findAll())).toEqual(hits);
    expect(nodes[1]!.calls['eth_getLogs']).toBe(1);
  });

  test('fails if the chain changes while the node searches it', async () => {
    const own = await startScriptedChain();
    own.mineMany(300);
    nodes = [own];
    const log = createLog(() => {});
    source = createEvmSource({ chain: '0x7a69', urls: [own.url], pollMs: 1_000, log });
    own.trouble({ kind: 'delay', delayMs: 300, methods: ['eth_getLogs'] });
    const next = source.openSearch!(search).next(1, 200);
    await expect.poll(() => own.calls['eth_getLogs']).toBe(1);
    own.fork({ depth: 250, blocks: 260 });
    await expect(next).rejects.toMatchObject({ kind: 'disagreement' });
  });
});
