import fc from 'fast-check';
import { type Hex, toEventSelector } from 'viem';
import {
  type BlockScript,
  type RunningScriptedChain,
  type ScriptedBlock,
  type ScriptedTransaction,
  type Trouble,
  scripted,
  startScriptedChain,
} from '@sluice/testkit';
import { expect, test } from 'vitest';
import { createLog } from '../base/log.ts';
import type { EvmBlock } from '../families/evm/match/block.ts';
import { createStreamIndex, matchBlock, needsOf, searchOf } from '../families/evm/match/match.ts';
import { packAddresses } from '../store/addresses/packedAddresses.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamRecord,
  type StreamOptions,
} from '../store/streams/contract.ts';
import { createReader } from './blockReader.ts';
import { createEvmSource } from '../families/evm/ingest/evm.ts';
import { SourceError } from './source.ts';

const CHAIN = '0x7a69';
const ADDRESSES = Array.from({ length: 4 }, (_, n): Hex => `0x${`${n + 1}`.repeat(40)}`);
const MOVED = 'Moved(address,address)';
const EVENTS: Hex[] = [toEventSelector(MOVED), `0x${'0b'.repeat(32)}`, `0x${'0c'.repeat(32)}`];
/** Returns an ABI that declares `Moved` with this number of indexed inputs. */
const abiOf = (indexed: number): StreamOptions['abi'] => [
  {
    type: 'event',
    name: 'Moved',
    inputs: ['from', 'to'].map((name, n) => ({ name, type: 'address', indexed: n < indexed })),
  },
];
const inTopic = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`;

const anyLog = fc.record({
  address: fc.constantFrom(...ADDRESSES),
  topics: fc
    .tuple(
      fc.constantFrom(...EVENTS),
      fc.array(fc.constantFrom(...ADDRESSES.map(inTopic), ...EVENTS), {
        maxLength: 3,
      }),
    )
    .map(([event, others]) => [event, ...others]),
});
const anyBlock = fc
  .array(fc.oneof(anyLog, fc.constant('transfer' as const)), { maxLength: 2 })
  .map((made) => ({
    transactions: made.map((each): ScriptedTransaction =>
      each === 'transfer'
        ? scripted.transfer({ from: ADDRESSES[0]!, to: ADDRESSES[1]!, value: 1n })
        : scripted.log(each),
    ),
  }));
/**
 * Generates lists of blocks. About 1 in 2, 1 in 5 or 1 in 13 of the blocks may have transactions.
 */
const anyBlocks = (minLength: number, maxLength: number): fc.Arbitrary<BlockScript[]> =>
  fc
    .constantFrom(1, 4, 12)
    .chain((weight) =>
      fc.array(
        fc.oneof({ weight, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: anyBlock }),
        { minLength, maxLength },
      ),
    );

const anyOptions = fc.record({
  allAddresses: fc.constantFrom(false, false, false, true),
  includeContractLogs: fc.integer({ max: 9, min: 0 }).map((n) => n > 0),
  includeNativeTxs: fc.integer({ max: 9, min: 0 }).map((n) => n === 0),
  includeAllTxLogs: fc.boolean(),
  functions: fc.constantFrom<string[]>([], [], [], ['*']),
  topic0: fc.subarray(EVENTS),
  abi: fc.option(fc.integer({ min: 0, max: 2 }).map(abiOf), { nil: null }),
  advancedOptions: fc.option(
    fc
      .constantFrom(...ADDRESSES)
      .map((from) => [{ topic0: MOVED, filter: { eq: ['from', from] } }]),
    { nil: null },
  ),
});

const anyTrouble: fc.Arbitrary<Trouble> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('rangeLimit' as const),
      blocks: fc.integer({ min: 1, max: 40 }),
      message: fc.constantFrom(
        'query exceeds max block range $blocks',
        'eth_getLogs is limited to a $blocks range',
        'ranges over $blocks blocks are not supported on freetier',
        'this block range should work: [$from, $to]',
        'Block range limit exceeded.',
        'limit exceeded',
        'Invalid params',
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('resultLimit' as const),
      logs: fc.integer({ min: 0, max: 6 }),
      message: fc.constantFrom(
        'query returned more than 10000 results',
        'Query returned more than 10000 results. Try with this block range [$from, $to].',
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Trouble[]>(
      { kind: 'lag', blocks: 4, times: 3, methods: ['eth_getBlockByNumber'] },
      { kind: 'error', message: 'no such plan', methods: ['eth_getLogs'], times: 1 },
    ),
  },
);

/**
 * Converts a scripted block to the matcher's form, with only the parts that the matcher compares.
 */
const toEvmBlock = ({ number, transactions, ...block }: ScriptedBlock): EvmBlock => ({
  number: Number(number),
  hash: block.hash,
  parentHash: block.parentHash,
  timestamp: Number(block.timestamp),
  internalTransactions: [],
  transactions: transactions.map((each) => ({
    ...each,
    receipt: { status: each.status === 'success' ? '0x1' : '0x0' },
  })) as unknown as EvmBlock['transactions'],
  logs: transactions.flatMap(({ hash, transactionIndex, logs }) =>
    logs.map((log) => ({
      transactionHash: hash,
      transactionIndex,
      topics: [...log.topics],
      address: log.address,
      data: log.data,
      logIndex: log.logIndex,
    })),
  ),
});

const stream = (options: Partial<StreamOptions>): EvmStreamRecord => ({
  id: 's',
  family: 'evm',
  tag: 's',
  description: '',
  webhookUrl: '',
  chainIds: [CHAIN],
  ...DEFAULT_DELIVERY,
  status: 'active',
  statusMessage: '',
  errorSince: null,
  addressCount: 0,
  childCount: 0,
  createdAt: 0,
  updatedAt: 0,
  options: { ...DEFAULT_OPTIONS, ...options },
});

test('property: searching by logs finds what reading each block finds, for all rules, chains, refusals and reorgs', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        blocks: anyBlocks(200, 400),
        branch: anyBlocks(1, 300),
        /** Number of steps of the job before the branch replaces the newest blocks. */
        forkAfter: fc.nat(6),
        options: anyOptions,
        watched: fc.subarray(ADDRESSES, { minLength: 1 }),
        troubles: fc.array(anyTrouble, { maxLength: 2 }),
        verifyHeaders: fc.boolean(),
        /** Whether the list of addresses is treated as too long for a query. */
        isLong: fc.boolean(),
      }),
      async ({ blocks, branch, forkAfter, options, watched, troubles, verifyHeaders, isLong }) => {
        const chain = await startScriptedChain();
        for (const each of blocks) chain.mine(each);
        for (const each of troubles) chain.trouble(each);
        const source = createEvmSource({
          chain: CHAIN,
          urls: [chain.url],
          pollMs: 1_000,
          verifyHeaders,
          log: createLog(() => {}),
        });
        const index = createStreamIndex();
        index.put(stream(options));
        index.addAddresses('s', packAddresses(watched).bytes);
        const matchesOf = (block: EvmBlock) =>
          matchBlock(index, CHAIN, block).map(({ logs, transactions, calls }) => ({
            block: block.hash,
            logs: logs.map(({ logIndex }) => logIndex),
            transactions: transactions.map(({ hash }) => hash),
            calls: calls.map(({ transactionHash }) => transactionHash),
          }));
        const needs = needsOf(index, CHAIN);
        const matcher = {
          needs,
          rules: options,
          search: async () => searchOf(index, CHAIN, () => (isLong ? 'many' : watched)),
        };
        const read = createReader(source);
        const upTo = Number(chain.head.number);
        const limits = { upTo, searchUpTo: upTo };
        const step = async (from: number) => {
          for (;;) {
            try {
              return await read({ id: 'j', nextBlock: from }, matcher, limits, false);
            } catch (error) {
              if (!(error instanceof SourceError)) throw error;
            }
          }
        };
        try {
          let steps = 0;
          for (let from = 1; from <= upTo;) {
            if (steps++ === forkAfter) {
              const depth = Math.min(branch.length, upTo);
              chain.fork({ depth, blocks: branch.slice(0, depth) });
            }
            const { to, blocks: found } = await step(from);
            const each = chain
              .canonical()
              .filter(({ number }) => from <= Number(number) && Number(number) <= to);
            expect(found.flatMap(matchesOf)).toEqual(
              each.flatMap((block) => matchesOf(toEvmBlock(block))),
            );
            from = to + 1;
          }
        } finally {
          await source.stop();
          await chain.stop();
        }
      },
    ),
    { numRuns: 40 },
  );
}, 120_000);

/** Returns a block that matches in {@link openLogs}. */
const hit = (address = ADDRESSES[0]!): BlockScript => ({
  transactions: [scripted.log({ address, topics: [EVENTS[1]!] })],
});

/** Opens a source of the chain, and a matcher of a stream that takes all logs of one address. */
function openLogs({ url }: Pick<RunningScriptedChain, 'url'>, address = ADDRESSES[0]!) {
  const log = createLog(() => {});
  const index = createStreamIndex();
  index.put(stream({ includeContractLogs: true }));
  index.addAddresses('s', packAddresses([address]).bytes);
  return {
    source: createEvmSource({ chain: CHAIN, urls: [url], pollMs: 1_000, log }),
    matcher: {
      needs: needsOf(index, CHAIN),
      rules: [address],
      search: async () => searchOf(index, CHAIN, () => [address]),
    },
  };
}

test('blocks that were found are read again if the chain changes before they are read', async () => {
  const chain = await startScriptedChain();
  for (let n = 0; n < 100; n++) chain.mine(n % 3 === 0 ? hit() : {});
  const { source, matcher } = openLogs(chain);
  try {
    const read = createReader(source);
    const limits = { upTo: 100, searchUpTo: 100 };
    const { to, blocks } = await read({ id: 'j', nextBlock: 1 }, matcher, limits, false);
    expect(blocks).toHaveLength(16);
    chain.fork({ depth: 40, blocks: [{}, hit(), ...Array.from({ length: 38 }, () => ({}))] });
    const next = () => read({ id: 'j', nextBlock: to + 1 }, matcher, limits, false);
    await expect(next()).rejects.toMatchObject({ kind: 'disagreement' });
    const canonical = new Set<string>(chain.canonical().map(({ hash }) => hash));
    const again = await next();
    expect(again.blocks.length).toBeGreaterThan(1);
    expect(again.blocks.filter(({ hash }) => !canonical.has(hash))).toEqual([]);
  } finally {
    await source.stop();
    await chain.stop();
  }
});

test('blocks that were found by former rules are not used after a change', async () => {
  const chain = await startScriptedChain();
  for (let n = 1; n <= 100; n++) {
    chain.mine(n % 25 === 0 ? hit(ADDRESSES[1]) : n % 3 === 0 ? hit() : {});
  }
  const { source, matcher } = openLogs(chain);
  const changed = openLogs(chain, ADDRESSES[1]);
  try {
    const read = createReader(source);
    const limits = { upTo: 100, searchUpTo: 100 };
    const { to, blocks } = await read({ id: 'j', nextBlock: 1 }, matcher, limits, false);
    expect(blocks).toHaveLength(16);
    expect(to).toBeLessThan(75);
    const next = await read({ id: 'j', nextBlock: to + 1 }, changed.matcher, limits, false);
    expect(next.blocks.map(({ number }) => number)).toEqual(
      [50, 75, 100].filter((number) => number > to),
    );
  } finally {
    await Promise.all([source.stop(), changed.source.stop()]);
    await chain.stop();
  }
});

test('a range is searched again if a block that was found does not exist', async () => {
  const chain = await startScriptedChain();
  for (let n = 1; n <= 100; n++) {
    chain.mine(n % 30 === 0 ? hit() : {});
  }
  chain.trouble({ kind: 'foreignLogs', methods: ['eth_getLogs'], times: 1 });
  const { source, matcher } = openLogs(chain);
  try {
    const read = createReader(source);
    const limits = { upTo: 100, searchUpTo: 100 };
    const next = () => read({ id: 'j', nextBlock: 1 }, matcher, limits, false);
    await expect(next()).rejects.toMatchObject({ kind: 'missing' });
    expect((await next()).blocks.map(({ number }) => number)).toEqual([30, 60, 90]);
  } finally {
    await source.stop();
    await chain.stop();
  }
});

test('blocks that were not committed are read again, although later ones were read ahead', async () => {
  const chain = await startScriptedChain();
  for (let n = 1; n <= 40; n++) chain.mine(hit());
  const { source, matcher } = openLogs(chain);
  try {
    const read = createReader(source);
    const next = () => read({ id: 'j', nextBlock: 1 }, matcher, { upTo: 40, searchUpTo: 40 }, true);
    const { to, blocks } = await next();
    expect(await next()).toMatchObject({ to, blocks });
  } finally {
    await source.stop();
    await chain.stop();
  }
});

test('the blocks of a range are read in batches, none left out or read again', async () => {
  const chain = await startScriptedChain();
  for (let n = 1; n <= 120; n++) chain.mine(n <= 40 || n === 120 ? hit() : {});
  const { source, matcher } = openLogs(chain);
  try {
    for (const readsAhead of [false, true]) {
      const read = createReader(source);
      const found: number[] = [];
      const batches: number[] = [];
      for (let from = 1; from <= 119;) {
        const limits = { upTo: 119, searchUpTo: 110 };
        const batch = await read({ id: 'j', nextBlock: from }, matcher, limits, readsAhead);
        found.push(...batch.blocks.map(({ number }) => number));
        batches.push(batch.to);
        from = batch.to + 1;
      }
      expect(batches).toEqual([16, 32, 110, 119]);
      const oneByOne = [111, 112, 113, 114, 115, 116, 117, 118, 119];
      expect(found).toEqual([...Array.from({ length: 40 }, (_, n) => n + 1), ...oneByOne]);
    }
  } finally {
    await source.stop();
    await chain.stop();
  }
});
