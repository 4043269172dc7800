/**
 * Compares the values that streams read, through commits, reorgs, lost answers of the ledger and
 * missing states, with a plain model that reads the whole chain again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamRead, WebhookRead } from '@sluice/kit/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog } from '../../../../base/log.ts';
import { createKnownReads } from '../../../../ingest/values/knownReads.ts';
import { createValueReading } from '../../../../ingest/values/reading.ts';
import type { BlockHeader } from '../../../../store/blocks/contract.ts';
import { openSqliteStore } from '../../../../store/engine/sqlite/sqlite.ts';
import type { Store } from '../../../../store/store.ts';
import { DEFAULT_OPTIONS, type EvmStreamRecord } from '../../../../store/streams/contract.ts';
import type { StateAnswer, StateReader } from '../../enrich/state.ts';
import {
  CONTRACTS,
  type Made,
  STREAMS,
  type Sent,
  type State,
  VALUES,
  answersOf,
  anyValue,
  draftOf,
  expectedOfStream,
  openMatching,
  toSent,
} from './readModel.test-only.ts';
import { createReadState } from './readState.ts';

// The chain

const anyStep = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('block' as const),
      state: fc.option(fc.tuple(anyValue, anyValue, anyValue), { nil: undefined, freq: 12 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('reorg' as const),
      depth: fc.integer({ min: 1, max: 6 }),
      /** Whether the removed blocks return afterwards. */
      returns: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('read' as const),
      outcome: fc.constantFrom('ok', 'ok', 'lost', 'failed'),
    }),
  },
);

let folder: string;
let store: Store;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-reads-'));
  store = await openSqliteStore(folder);
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

let lastChain = 0x100;
let lastHash = 0n;
const newHash = (): string => `0x${(++lastHash).toString(16).padStart(64, '0')}`;

/** Creates a chain with the streams, and what reads their values. */
async function open() {
  const chain = `0x${(++lastChain).toString(16)}`;
  const epoch = (await store.takeLease({ name: chain, holder: 'a test', forMs: 3_600_000 }))!;
  const genesis: BlockHeader = { number: 0, hash: newHash(), parentHash: '', timestamp: 0 };
  await store.startChain({ chain, epoch, block: genesis, genesisHash: genesis.hash });
  const ids: string[] = [];
  for (const reads of STREAMS) ids.push((await store.createStream(draftOf(reads, chain))).id);

  const states = new Map<string, State>();
  let made: Made[] = [];
  let outcome = 'ok';
  /** Blocks in which the first contract was called. */
  const called: number[] = [];
  const state: Pick<StateReader, 'read' | 'isGone'> = {
    isGone: () => false,
    async read({ number, hash }, requests) {
      const values = states.get(hash);
      if (requests.some((each) => 'to' in each && each.to === CONTRACTS[0])) called.push(number);
      return answersOf(values, requests);
    },
  };
  /** Resolves when no block is pending; undefined while the reader must not read. */
  let reads: PromiseWithResolvers<void> | undefined;
  const watching = Object.assign(Object.create(store) as Store, {
    async nextState(id: string) {
      const next = reads && (await store.nextState(id));
      if (next === undefined) reads?.resolve();
      return next;
    },
    async commitState(reading: Parameters<Store['commitState']>[0]) {
      if (outcome === 'failed') throw new Error('failed');
      const isRead = await store.commitState(reading);
      if (outcome === 'lost') throw new Error('lost');
      return isRead;
    },
  });
  const { values } = openMatching(store);
  const readState = createReadState({ state, values: VALUES });
  const commit = async (block: BlockHeader): Promise<void> => {
    const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
    const committed = await store.commitBlock({
      chain,
      epoch,
      block,
      ruleRevision: revision,
      confirmUpTo: -1,
      windowBlocks: 8,
      matches: [],
      readsState: true,
    });
    expect(committed.outcome).toBe('committed');
  };

  const reading = createValueReading({
    chain,
    epoch,
    store: watching,
    matcher: values,
    readState,
    confirmedHeights: () => undefined,
    retryMs: 0,
    log: createLog(() => {
      // The failure is logged, and the next try succeeds.
      outcome = 'ok';
    }),
  });
  reading.start();

  return {
    ids,
    chain,
    made: () => made,
    called,
    async add(values: State): Promise<void> {
      const parent = made.at(-1)?.header ?? genesis;
      const header: BlockHeader = {
        number: parent.number + 1,
        hash: newHash(),
        parentHash: parent.hash,
        timestamp: parent.timestamp + 10,
      };
      states.set(header.hash, values);
      made.push({ header, state: values });
      await commit(header);
    },
    async rewind(depth: number, returns: boolean): Promise<void> {
      // No reorg reaches below the oldest block of the window, which has 8 blocks at most.
      const window = await store.readWindow(chain, 8);
      const removed = Math.min(depth, window.length - 1);
      const left = made.slice(0, made.length - removed);
      const ancestor = left.at(-1)?.header ?? genesis;
      await store.rewindChain({ chain, epoch, ancestor });
      const gone = made.slice(made.length - removed);
      made = left;
      if (!returns) return;
      for (const each of gone) {
        made.push(each);
        await commit(each.header);
      }
    },
    /** Reads the pending blocks; each outcome applies to the first write. */
    async read(how: string): Promise<void> {
      outcome = how;
      reads = Promise.withResolvers();
      reading.wake();
      await reads.promise;
      reads = undefined;
      outcome = 'ok';
    },
    stop: () => reading.stop(),
    /** Returns what the streams would send now. */
    async sent(): Promise<string[][]> {
      const sent = new Map<string, Sent[]>(ids.map((id) => [id, []]));
      for (;;) {
        const claimed = await store.claimDeliveries({
          limit: 1_000,
          maxBytes: 1e9,
          perStream: 1_000,
          taken: {},
          leaseMs: 3_600_000,
        });
        if (claimed.length === 0) break;
        for (const { streamId, body } of claimed) {
          const { block, reads } = JSON.parse(Buffer.from(body).toString()) as {
            block: { number: string };
            reads: WebhookRead[];
          };
          sent.get(streamId)?.push(...reads.map((each) => toSent(Number(block.number), each)));
        }
      }
      return ids.map((id) =>
        sent
          .get(id)!
          .map((each) => JSON.stringify(each))
          .toSorted(),
      );
    },
  };
}

/**
 * Expects that the streams sent what the model sends.
 *
 * @param isRead whether a stream reads a block. Default: always
 */
async function expectAllSent(
  world: Awaited<ReturnType<typeof open>>,
  isRead: (stream: number, block: number) => boolean = () => true,
): Promise<void> {
  const sent = await world.sent();
  for (const [n, reads] of STREAMS.entries()) {
    const chain = world.made().filter(({ header }) => isRead(n, header.number));
    expect(sent[n]).toEqual(expectedOfStream(reads, chain));
  }
}

/** Number of scripted chains. Set by hand for a long run. */
const RUNS = Number(process.env['READ_RUNS'] ?? 8);

test('each crossing of the chain is sent once, whatever happens to its blocks and their reading', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 20, maxLength: 80 }), async (steps) => {
      const world = await open();
      for (const step of steps) {
        if (step.kind === 'block') await world.add(step.state);
        else if (step.kind === 'reorg') await world.rewind(step.depth, step.returns);
        else await world.read(step.outcome);
      }
      await world.read('ok');
      await expectAllSent(world);
      // A state that no node has is a hole.
      const missing = world.made().filter(({ state }) => state === undefined);
      const { from, holes } = (await store.readCoverage(world.ids[0]!))[0]!;
      const isCovered = (number: number): boolean =>
        from !== null &&
        from <= number &&
        holes.every((hole) => number < hole.from || number > hole.to);
      expect(missing.filter(({ header }) => isCovered(header.number))).toEqual([]);
      await world.stop();
      for (const id of world.ids) await store.deleteStream(id);
    }),
    { numRuns: RUNS },
  );
});

test('a value is not known in a hole, even if it was the same before and after', async () => {
  const world = await open();
  for (const state of [[1, 1, 1], undefined, [1, 1, 1]] as const) await world.add(state);
  await world.read('ok');
  await world.rewind(1, false);
  await world.add([3, 3, 3]);
  await world.read('ok');
  await expectAllSent(world);
});

test('a value is still known after its stream was paused', async () => {
  const world = await open();
  await world.add([1, 1, 1]);
  await world.read('ok');
  await store.setStreamStatus(world.ids[1]!, 'paused', '');
  await world.add([3, 3, 3]);
  await world.read('ok');
  await store.setStreamStatus(world.ids[1]!, 'active', '');
  await world.add([4, 4, 4]);
  await world.read('ok');
  await expectAllSent(world, (stream, block) => stream === 0 || block !== 2);
});

test('a value is not known while its stream is paused, even if it was the same before and after', async () => {
  const world = await open();
  await world.add([1, 1, 1]);
  await world.read('ok');
  await store.setStreamStatus(world.ids[1]!, 'paused', '');
  await world.add([1, 1, 1]);
  await world.read('ok');
  await store.setStreamStatus(world.ids[1]!, 'active', '');
  await world.add([1, 1, 1]);
  await world.read('ok');
  await world.rewind(1, false);
  await world.add([3, 3, 3]);
  await world.read('ok');
  await expectAllSent(world, (stream, block) => stream === 0 || block !== 2);
});

test('a value whose reads fail is read at growing intervals', async () => {
  const world = await open();
  for (let n = 0; n < 60; n++) await world.add(['reverts', 1, 1]);
  await world.read('ok');
  expect(world.called).toEqual([1, 2, 3, 4, 6, 9, 13, 19, 28, 42, 58]);
  for (let n = 0; n < 16; n++) await world.add([1, 1, 1]);
  await world.read('ok');
  expect(world.called.slice(11)).toEqual([74, 75, 76]);
  await world.stop();
});

test('the streams of a chain share the requests of a block', async () => {
  const asked: number[] = [];
  const readState = createReadState({
    state: {
      isGone: () => false,
      read(_, requests) {
        asked.push(requests.length);
        return Promise.resolve(requests.map(() => ({ outcome: 'read', value: '1' })));
      },
    },
    values: VALUES,
  });
  const streams = Array.from({ length: 100 }, (_, stream) => {
    const of = Array.from(
      { length: 10 },
      (_, n) => `0x${String(stream * 9 + n).padStart(40, '0')}`,
    );
    const reads = [{ balance: 'native', of, when: 'changes' as const }];
    return { id: `${stream}`, options: { ...DEFAULT_OPTIONS, reads } } as EvmStreamRecord;
  });
  const block: BlockHeader = { number: 2, hash: '0x2', parentHash: '0x1', timestamp: 2 };
  const pending = { chain: '0x1', block, after: 1, pending: 1 };
  const { results } = (await readState({ streams, pending, known: createKnownReads() }, false))!;
  expect(results).toHaveLength(1_000);
  // Neighbors share an account, which is read once.
  expect(asked).toEqual([901]);
});

test('a contract that reverts, burns gas or returns garbage affects no other stream', async () => {
  const answers: Record<string, StateAnswer> = {
    [CONTRACTS[0]!]: { outcome: 'failed', message: 'execution reverted' },
    [CONTRACTS[1]!]: { outcome: 'read', value: '0x1234' },
    [CONTRACTS[2]!]: { outcome: 'refused', message: 'it did not respond' },
  };
  const readState = createReadState({
    state: {
      isGone: () => false,
      read: (_, requests) =>
        Promise.resolve(
          requests.map((each) =>
            'to' in each ? answers[each.to]! : { outcome: 'read', value: '7' },
          ),
        ),
    },
    values: VALUES,
  });
  const streamOf = (id: string, reads: StreamRead[]): EvmStreamRecord =>
    ({ id, options: { ...DEFAULT_OPTIONS, reads } }) as EvmStreamRecord;
  const when = { above: '1' };
  const streams = [
    streamOf(
      'bad',
      CONTRACTS.map((contract) => ({ contract, function: 'f() returns (uint256)', when })),
    ),
    streamOf('good', [{ balance: 'native', of: [CONTRACTS[0]!], decimals: 0, when }]),
  ];
  const block: BlockHeader = { number: 2, hash: '0x2', parentHash: '0x1', timestamp: 2 };
  const asked = { streams, pending: { block, after: 1 }, known: createKnownReads() };
  // A contract that does not respond is read again, and is a hole of its own stream in the end.
  expect(await readState(asked, false)).toBeUndefined();
  const { results, ended, lacking, sent } = (await readState(asked, true))!;
  expect(results.map(({ streamId, value, error }) => [streamId, value ?? error])).toEqual([
    ['bad', 'execution reverted'],
    ['bad', 'the result does not have the declared outputs'],
    ['good', '"7"'],
  ]);
  expect(ended).toEqual([{ streamId: 'bad', key: expect.any(String) as string }]);
  expect(lacking).toEqual(['bad']);
  expect([...sent.keys()]).toEqual(['good']);
});
