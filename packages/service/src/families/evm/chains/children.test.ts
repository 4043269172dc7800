/**
 * Compares the children of factories, through commits, reorgs, restarts and lost answers of the
 * ledger, with a plain model that reads the whole chain again for each block.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { type Abi, encodeAbiParameters, encodeEventTopics, parseAbi, zeroAddress } from 'viem';
import type { EvmWebhook } from '@sluice/kit/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog } from '../../../base/log.ts';
import { NO_TRACING } from '../../../base/tracing.ts';
import { createBlockCommitter } from '../../../ingest/commit.ts';
import { createConfirmationRule } from '../../../ingest/confirming.ts';
import { type LocalChain, createLocalChain } from '../../../ingest/localChain.ts';
import { packAddresses } from '../../../store/addresses/packedAddresses.ts';
import { createAddressChanges } from '../../../store/addresses/addressChanges.ts';
import { joinBody } from '../../../store/blocks/body.ts';
import type { BlockCommit, BlockHeader, NewMatch } from '../../../store/blocks/contract.ts';
import { openSqliteStore } from '../../../store/engine/sqlite/sqlite.ts';
import type { Store } from '../../../store/store.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamDraft,
  type Sealed,
  type StreamOptions,
} from '../../../store/streams/contract.ts';
import { createEnrich } from '../enrich/enrich.ts';
import type { EvmBlock } from '../match/block.ts';
import { createEvmMatching } from './matching.ts';

const EVENTS = {
  created: 'Created(address child)',
  spawned: 'Spawned(address indexed child, uint256 salt)',
  batch: 'Batch((uint256 n, address pool) pair, address[] children)',
  ping: 'Ping(address indexed account)',
} as const;
type Kind = keyof typeof EVENTS;

const addressOf = (n: number): string => `0x${`${n}`.repeat(40)}`;
/** Few addresses, so that they are factories, children and listed addresses at once. */
const ADDRESSES = [1, 2, 3, 4, 5, 6, 7].map(addressOf);

interface LogMade {
  kind: Kind;
  emitter: string;
  first: string;
  second: string;
}

type Made = readonly LogMade[];

const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`;

function toLog({ kind, emitter, first, second }: LogMade, logIndex: number) {
  const abi: Abi = parseAbi([`event ${EVENTS[kind]}`] as readonly string[]);
  const [event] = abi;
  if (event?.type !== 'event') throw new Error('not an event');
  const data = event.inputs.filter((input) => input.indexed !== true);
  const values = {
    created: [first],
    spawned: [7n],
    batch: [{ n: 1n, pool: first }, [second, zeroAddress]],
    ping: [],
  }[kind];
  const args = kind === 'spawned' ? { child: first } : kind === 'ping' ? { account: first } : {};
  return {
    logIndex,
    transactionIndex: 0,
    transactionHash: word(7n),
    address: emitter,
    topics: encodeEventTopics({ abi, eventName: event.name, args }).map(String),
    data: encodeAbiParameters(data, values as never),
  };
}

// The model

type FactoryRule = NonNullable<StreamOptions['factories']>[number];

interface Rule {
  listed: readonly string[];
  factories: readonly FactoryRule[];
  chains: readonly number[];
}

const kindOf = ({ event }: FactoryRule): Kind =>
  (Object.keys(EVENTS) as Kind[]).find((kind) => EVENTS[kind] === event)!;

const childrenIn = ({ kind, first, second }: LogMade, parameter: string): readonly string[] =>
  parameter === 'children' && kind === 'batch' ? [second] : [first];

/** Returns the children of each factory at the last of these blocks. */
function childrenAt({ factories }: Rule, blocks: readonly Made[]): readonly Set<string>[] {
  const children = factories.map(() => new Set<string>());
  for (const logs of blocks) {
    for (const [n, rule] of factories.entries()) {
      for (const log of logs) {
        const isCreator =
          rule.childrenOf === undefined
            ? log.emitter === rule.address
            : children[rule.childrenOf]!.has(log.emitter);
        if (log.kind !== kindOf(rule) || !isCreator) continue;
        for (const child of childrenIn(log, rule.parameter)) children[n]!.add(child);
      }
    }
  }
  return children;
}

/** Returns the positions of the logs of the last block that the stream matches. */
function expectedOf(rule: Rule, blocks: readonly Made[]): string[] {
  const children = childrenAt(rule, blocks).flatMap((each) => [...each]);
  const watched = new Set([...rule.listed, ...children]);
  return blocks.at(-1)!.flatMap(({ kind, emitter, first }, n) => {
    const isTopic = kind === 'spawned' || kind === 'ping';
    return watched.has(emitter) || (isTopic && watched.has(first)) ? [String(n)] : [];
  });
}

const RULES: readonly Rule[] = [
  {
    // Children of children of children; one listed address may also be a child.
    listed: [addressOf(7)],
    factories: [
      { address: addressOf(1), event: EVENTS.created, parameter: 'child' },
      { childrenOf: 0, event: EVENTS.spawned, parameter: 'child' },
      { childrenOf: 1, event: EVENTS.batch, parameter: 'children' },
    ],
    chains: [0, 1],
  },
  {
    // Two factories may create the same child.
    listed: [],
    factories: [
      { address: addressOf(1), event: EVENTS.batch, parameter: 'pair.pool' },
      { address: addressOf(2), event: EVENTS.spawned, parameter: 'child' },
    ],
    chains: [0],
  },
  { listed: [addressOf(3)], factories: [], chains: [0, 1] },
];

// The chain

const anyLog: fc.Arbitrary<LogMade> = fc.record({
  kind: fc.constantFrom(...(Object.keys(EVENTS) as Kind[])),
  emitter: fc.constantFrom(...ADDRESSES),
  first: fc.constantFrom(...ADDRESSES),
  second: fc.constantFrom(...ADDRESSES),
});
/** Many children of the first factory in one block, some of which blocks before have, too. */
const manyLogs: fc.Arbitrary<LogMade[]> = fc.nat({ max: 1_000 }).map((start) =>
  Array.from({ length: 500 }, (_, n) => ({
    kind: 'created' as const,
    emitter: addressOf(1),
    first: `0x${(0xc0_0000 + start + n).toString(16).padStart(40, '0')}`,
    second: addressOf(1),
  })),
);
const anyChain = fc.constantFrom(0, 1);
const anyStep = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('block' as const),
      chain: anyChain,
      logs: fc.oneof(
        { weight: 30, arbitrary: fc.array(anyLog, { maxLength: 6 }) },
        { weight: 1, arbitrary: manyLogs },
      ),
      /** `lost`: the ledger commits the block, but its answer is lost. */
      outcome: fc.constantFrom('ok', 'ok', 'ok', 'lost', 'failed'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('reorg' as const),
      chain: anyChain,
      depth: fc.integer({ min: 1, max: 4 }),
      outcome: fc.constantFrom('ok', 'ok', 'lost', 'failed'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
);

/** Each run has about 30 blocks. */
const RUNS = Number(process.env['CHILD_RUNS'] ?? 8);
const LONG = { timeout: 60_000 + RUNS * 2_000 };

let folder: string;
let store: Store;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-children-'));
  store = await openSqliteStore(folder);
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

let lastChain = 0x100;
let lastHash = 0n;

const draftOf = (rule: Rule, chains: readonly string[]): Sealed<EvmStreamDraft> =>
  ({
    family: 'evm',
    tag: '',
    description: '',
    webhookUrl: 'http://127.0.0.1:1/',
    chainIds: rule.chains.map((n) => chains[n]),
    options: {
      ...DEFAULT_OPTIONS,
      includeContractLogs: true,
      includeMatched: true,
      factories: rule.factories.length === 0 ? null : [...rule.factories],
    },
    ...DEFAULT_DELIVERY,
  }) as unknown as Sealed<EvmStreamDraft>;

const bodiesOf = (matches: readonly NewMatch[], streamId: string): EvmWebhook[] =>
  matches
    .filter((match) => match.streamId === streamId)
    .map(
      (match) => JSON.parse(joinBody({ ...match, phase: 'unconfirmed', retries: 0 })) as EvmWebhook,
    );

const logsOf = (bodies: readonly EvmWebhook[]): string[] =>
  bodies.flatMap(({ logs }) => logs.map(({ logIndex }) => logIndex));

/** Checks that each matched address has a factory that created it, unless the stream lists it. */
function checkFactories(rule: Rule, made: readonly Made[], bodies: readonly EvmWebhook[]): number {
  const children = childrenAt(rule, made);
  const matched = bodies.flatMap((body) => body.matched!);
  for (const { address, factory } of matched) {
    if (rule.listed.includes(address!)) expect(factory).toBeNull();
    else expect(children[factory!]).toContain(address);
  }
  return matched.filter(({ factory }) => factory !== null).length;
}

/** Creates two chains and the streams of `rules`, and the parts of a service that follow them. */
async function open(rules: readonly Rule[]) {
  const ids = [0, 1].map(() => `0x${(++lastChain).toString(16)}`);
  const streams: string[] = [];
  for (const rule of rules) {
    const { id } = await store.createStream(draftOf(rule, ids));
    streams.push(id);
    if (rule.listed.length === 0) continue;
    await createAddressChanges(store).add(id, {
      addresses: packAddresses(rule.listed),
      labels: new Map(),
      keyId: 'bootstrap',
    });
  }
  /** How the next write ends. */
  let outcome = 'ok';
  /** The matches of the last commit. */
  let committed: readonly NewMatch[] = [];
  const outcomeOf = async <T>(write: () => Promise<T>): Promise<T> => {
    if (outcome === 'failed') throw new Error('failed');
    const result = await write();
    if (outcome === 'lost') throw new Error('lost');
    return result;
  };
  const watching = Object.assign(Object.create(store) as Store, {
    commitBlock(commit: BlockCommit) {
      committed = commit.matches;
      return outcomeOf(() => store.commitBlock(commit));
    },
    rewindChain: (rewind: Parameters<Store['rewindChain']>[0]) =>
      outcomeOf(() => store.rewindChain(rewind)),
  });
  const createMatching = () =>
    createEvmMatching({
      store: watching,
      enrichOf: (chain) =>
        createEnrich({
          chain,
          store,
          state: undefined as never,
          log: createLog(() => {}),
          maxWebhookBytes: 1e6,
        }),
      spamLists: {},
      omitRecentFields: false,
      maxWebhookBytes: 1e6,
    });
  let matching = createMatching();
  const blocks = new Map<string, EvmBlock>();

  const followOne = async (chain: string) => {
    const epoch = (await store.takeLease({ name: chain, holder: 'a test', forMs: 3_600_000 }))!;
    const genesis: BlockHeader = {
      number: 0,
      hash: word(++lastHash),
      parentHash: '',
      timestamp: 0,
    };
    await store.startChain({ chain, epoch, block: genesis, genesisHash: genesis.hash });
    const parts = async () => {
      const { live } = matching;
      const local: LocalChain = createLocalChain(
        { chain, epoch },
        {
          store: watching,
          confirming: createConfirmationRule(1_000, { block: () => undefined, lacks: () => false }),
          finality: { rewind: () => {} },
          children: {
            change: (change) => live.changeChildren(chain, change),
            forget: () => live.forgetChildren(chain),
          },
          listener: { onBlock() {} },
          log: createLog(() => {}),
        },
      );
      await local.load();
      const committing = createBlockCommitter<EvmBlock>(chain, {
        source: {
          readHeader: () => Promise.resolve(undefined),
          readBlockAt: () => Promise.resolve(undefined),
          readBlock: ({ hash }) => Promise.resolve(blocks.get(hash)!),
          sizeOf: () => 1,
        },
        matcher: live,
        local,
        head: () => null,
        refuseBlocks: () => undefined,
        tracing: NO_TRACING,
      });
      return { local, committing };
    };
    return { chain, made: [] as Made[], restart: parts, ...(await parts()) };
  };
  const followed = [await followOne(ids[0]!), await followOne(ids[1]!)];

  const attempt = async (next: string, write: () => Promise<unknown>): Promise<void> => {
    outcome = next;
    await write().catch(() => {});
    outcome = 'ok';
  };

  return {
    streams,
    followed,
    blocks,
    matches: () => committed,
    matching: () => matching,
    async restart() {
      matching = createMatching();
      for (const each of followed) Object.assign(each, await each.restart());
    },
    async add(n: number, logs: Made, how: string) {
      const { local, committing, made, chain } = followed[n]!;
      const tip = local.tip()!;
      const block: EvmBlock = {
        number: tip.number + 1,
        hash: word(++lastHash),
        parentHash: tip.hash,
        timestamp: tip.number + 1,
        logs: logs.map(toLog),
        transactions: [],
        internalTransactions: [],
      };
      blocks.set(block.hash, block);
      await attempt(how, () => committing.commit(block));
      if (how !== 'ok') await local.load();
      if (how === 'failed') await committing.commit(block);
      made.push(logs);
      return { chain, block };
    },
    async rewind(n: number, depth: number, how: string) {
      const { local, made } = followed[n]!;
      const removed = Math.min(depth, made.length);
      const rewind = () => local.rewind(local.window()[removed]!, removed);
      await attempt(how, rewind);
      if (how !== 'ok') await local.load();
      if (how === 'failed') await rewind();
      made.length -= removed;
    },
  };
}

test('no block is matched while late children are written', async () => {
  const world = await open(RULES.slice(0, 1));
  const { chain, block } = await world.add(0, [], 'ok');
  const { live } = world.matching();
  const child = { streamId: world.streams[0]!, factory: 'f', address: addressOf(6) };
  let matchedUpTo: number | undefined;
  let end: (result: { children: [] }) => void;
  const written = live.addLateChildren(chain, [child], (upTo) => {
    matchedUpTo = upTo;
    return new Promise<{ children: [] }>((resolve) => (end = resolve));
  });
  expect(matchedUpTo).toBe(block.number);
  expect(() => live.match(chain, block)).toThrow('the children of a factory are being loaded');
  const order: string[] = [];
  const loaded = live.loadChildren(chain).then(() => order.push('loaded'));
  await new Promise(setImmediate);
  order.push('written');
  end!({ children: [] });
  await Promise.all([written, loaded]);
  expect(order).toEqual(['written', 'loaded']);
  expect(live.match(chain, block).matches).toEqual([]);
  await store.deleteStream(child.streamId);
});

test('each block is matched with the children that its chain has at it', LONG, async () => {
  let ofFactories = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 20, maxLength: 60 }), async (steps) => {
      const world = await open(RULES);
      for (const step of steps) {
        if (step.kind === 'restart') await world.restart();
        else if (step.kind === 'reorg') await world.rewind(step.chain, step.depth, step.outcome);
        else {
          const { chain, block } = await world.add(step.chain, step.logs, step.outcome);
          const { made } = world.followed[step.chain]!;
          for (const [n, rule] of RULES.entries()) {
            const expected = rule.chains.includes(step.chain) ? expectedOf(rule, made) : [];
            const live = bodiesOf(world.matches(), world.streams[n]!);
            expect(logsOf(live)).toEqual(expected);
            ofFactories += checkFactories(rule, made, live);
            // A backfill reads the children from the ledger.
            if (!rule.chains.includes(step.chain)) continue;
            const single = await world.matching().open(chain, world.streams[n]!);
            const past = bodiesOf(await single!.match(block), world.streams[n]!);
            expect(logsOf(past)).toEqual(expected);
            checkFactories(rule, made, past);
          }
        }
      }
      for (const id of world.streams) await store.deleteStream(id);
    }),
    { numRuns: RUNS },
  );
  expect(ofFactories).toBeGreaterThan(20);
});

test('children of an earlier block are not added if a reorg removes them meanwhile', async () => {
  const world = await open(RULES.slice(0, 1));
  const { live } = world.matching();
  const child = addressOf(3);
  const { chain, block } = await world.add(0, [], 'ok');
  const created = toLog({ kind: 'created', emitter: addressOf(1), first: child, second: child }, 0);
  const children = await live.findChildren(chain, { ...block, logs: [created] });
  expect(children).toMatchObject([{ address: child }]);
  await live.addLateChildren(chain, children, () => {
    live.changeChildren(chain, { removed: children });
    return Promise.resolve({ children });
  });
  await world.add(0, [{ kind: 'created', emitter: child, first: child, second: child }], 'ok');
  expect(world.matches()).toEqual([]);
  for (const id of world.streams) await store.deleteStream(id);
});
