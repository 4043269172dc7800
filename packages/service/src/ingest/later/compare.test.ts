/** Tests how a later reading is compared with the earlier ones, on a real ledger. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLog } from '../../base/log.ts';
import type { EvmBlock, EvmInternalTransaction, EvmLog } from '../../families/evm/match/block.ts';
import { EVM_RECORDS } from '../../families/evm/ingest/recordIds.ts';
import { splitBody } from '../../store/blocks/body.ts';
import type { BlockNeeds, NewMatch, Unverified } from '../../store/blocks/contract.ts';
import { newMatch } from '../../../test/store/newMatch.ts';
import { takeChain } from '../../../test/store/takeChain.ts';
import { openSqliteStore } from '../../store/engine/sqlite/sqlite.ts';
import type { Store } from '../../store/store.ts';
import { draft } from '../../../test/store/storeTools.ts';
import { NO_MATCHES } from '../noMatches.test-only.ts';
import { SourceError } from '../source.ts';
import { encodeIds } from './records.ts';
import { createRereading } from './rereading.ts';

const CHAIN = '0x7a69';
const NEEDS: BlockNeeds = { logs: true, transactions: false, traces: false };
const HASH = `0x${'1'.repeat(64)}`;
const HEADER = {
  number: 1,
  hash: HASH,
  parentHash: `0x${'0'.repeat(64)}`,
  timestamp: 1_700_000_000,
};

const logOf = (data: string, logIndex = 0): EvmLog => ({
  logIndex,
  transactionHash: `0x${'a'.repeat(64)}`,
  transactionIndex: 0,
  address: `0x${'b'.repeat(40)}`,
  topics: ['0x01'],
  data,
});
const uncertain = (codes: Unverified['codes'] = ['receipts']): Unverified => ({
  codes,
  witnesses: 1,
  isUncertain: true,
});
const blockOf = (data: readonly string[], unverified?: Unverified): EvmBlock => ({
  ...HEADER,
  logs: data.map(logOf),
  transactions: [],
  internalTransactions: [],
  unverified,
});
/** Matches all logs of a block. */
const matchAll = (streamId: string, { logs, internalTransactions }: EvmBlock): NewMatch[] =>
  logs.length === 0
    ? []
    : [
        newMatch(streamId, {
          logs: logs.length,
          ...splitBody(
            { tag: 'tag' },
            {
              txs: [],
              txsInternal: internalTransactions,
              logs: logs.map(({ topics: [topic0 = null], ...log }) => ({
                ...log,
                topic0,
                topic1: null,
                topic2: null,
                topic3: null,
              })),
            },
          ),
        }),
      ];

let folder: string;
let store: Store;
let epoch: number;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-rereading-'));
  store = await openSqliteStore(folder);
  epoch = await takeChain(store, CHAIN);
  const block = { ...HEADER, number: 0, hash: HEADER.parentHash };
  await store.startChain({ chain: CHAIN, epoch, block, genesisHash: block.hash });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const commit = async (
  streams: readonly string[],
  block: EvmBlock,
  records = encodeIds(EVM_RECORDS.of(block)),
) => {
  const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
  const { unverified } = block;
  await store.commitBlock({
    chain: CHAIN,
    epoch,
    block: HEADER,
    ruleRevision: revision,
    confirmUpTo: -1,
    windowBlocks: 256,
    matches: streams.flatMap((id) => matchAll(id, block)),
    unverified: unverified && {
      ...unverified,
      reading: { needs: { ...NEEDS }, records, dueInMs: 0 },
    },
  });
};

/** Sends what is due. */
const send = async (): Promise<void> => {
  const all = { limit: 100, maxBytes: 1e9, perStream: 100, taken: {}, leaseMs: 40_000 };
  const claimed = await store.claimDeliveries(all);
  await store.completeDeliveries(
    claimed.map(({ id, leaseToken }) => ({
      id,
      leaseToken,
      webhookUrl: 'http://127.0.0.1:1/',
      startedAt: Date.now(),
      durationMs: 1,
      status: 200,
      error: null,
      responseBody: '',
      transport: null,
      result: 'succeeded' as const,
      retryInMs: 0,
      isFastRetry: false,
    })),
  );
};

/** Returns the phases and data of the deliveries of a stream, oldest first. */
const deliveriesOf = async (streamId: string): Promise<string[]> => {
  const { rows } = await store.listDeliveries({ limit: 100, streamId });
  return Promise.all(
    rows.toReversed().map(async ({ id, phase }) => {
      const { logs } = JSON.parse((await store.readDeliveryBody(id))!) as { logs: EvmLog[] };
      return `${phase} ${logs.map(({ data }) => data).join(' ')}`;
    }),
  );
};

/** Lets a reading return these blocks, one after another, until the block is no longer due. */
const reread = async (
  answers: readonly { block?: EvmBlock; isComplete?: boolean }[],
  {
    streams = [],
    afterMs = [1, 2, 3],
    header = HEADER,
  }: {
    streams?: readonly string[];
    afterMs?: readonly number[];
    header?: typeof HEADER;
  } = {},
): Promise<number> => {
  let reads = 0;
  const done = Promise.withResolvers<void>();
  const rereading = createRereading<EvmBlock>({
    chain: CHAIN,
    epoch,
    store,
    log: createLog(() => {}),
    source: { readHeader: () => Promise.resolve(header) },
    later: {
      afterMs,
      records: EVM_RECORDS,
      read() {
        const answer = answers[reads++];
        if (answer === undefined) done.resolve();
        if (answer?.block === undefined) throw new SourceError('unreachable', 'away');
        return Promise.resolve({ block: answer.block, isComplete: answer.isComplete ?? true });
      },
    },
    matcher: {
      ...NO_MATCHES,
      refresh: () => Promise.resolve(1),
      matchAsOf: async (_, block) => streams.flatMap((id) => matchAll(id, block)),
    },
    openMatcher: (id) =>
      Promise.resolve({
        needs: NEEDS,
        confirmations: null,
        rules: null,
        search: () => Promise.resolve(undefined),
        match: async (block) => matchAll(id, block),
      }),
    confirmedHeights: () => undefined,
  });
  rereading.start();
  const isOver = async (): Promise<void> => {
    while ((await store.countUncertain())[CHAIN] !== 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  await Promise.race([done.promise, isOver()]);
  await rereading.stop();
  return reads;
};

const createStream = async (notifyRemoved = false): Promise<string> =>
  (await store.createStream(draft([CHAIN], { notifyRemoved }))).id;

describe('records that vanished', () => {
  test('are removed where the stream requests it, and the rest is sent again', async () => {
    const notified = await createStream(true);
    const other = await createStream();
    await commit([notified, other], blockOf(['0x01', '0x02'], uncertain()));
    await send();
    await reread([{ block: blockOf(['0x01']) }], { streams: [notified, other] });
    expect(await deliveriesOf(notified)).toEqual([
      'unconfirmed 0x01 0x02',
      'removed 0x01 0x02',
      'unconfirmed 0x01',
    ]);
    expect(await deliveriesOf(other)).toEqual(['unconfirmed 0x01 0x02']);
  });

  test('are removed without a new webhook if the stream matches nothing else', async () => {
    const id = await createStream(true);
    await commit([id], blockOf(['0x01'], uncertain()));
    await send();
    await reread([{ block: blockOf([]) }], { streams: [id] });
    expect(await deliveriesOf(id)).toEqual(['unconfirmed 0x01', 'removed 0x01']);
  });

  test('with a trace that a node does not have are kept', async () => {
    const id = await createStream(true);
    const block = blockOf(['0x01'], uncertain());
    const move = { transactionHash: block.logs[0]!.transactionHash } as EvmInternalTransaction;
    const traced = [move.transactionHash];
    await commit([id], { ...block, internalTransactions: [move], traced });
    await send();
    await reread([{ block: blockOf(['0x01', '0x02']) }], { streams: [id] });
    expect(await deliveriesOf(id)).toEqual(['unconfirmed 0x01', 'unconfirmed 0x02']);
  });

  test('are removed once if others appear in the same block', async () => {
    const id = await createStream(true);
    await commit([id], blockOf(['0x01', '0x02'], uncertain()));
    await send();
    await reread([{ block: blockOf(['0x02', '0x03']) }], { streams: [id] });
    expect(await deliveriesOf(id)).toEqual([
      'unconfirmed 0x01 0x02',
      'removed 0x01 0x02',
      'unconfirmed 0x02 0x03',
    ]);
  });

  test('are kept while the nodes lack parts, and are not sent again when they return', async () => {
    const id = await createStream(true);
    await commit([id], blockOf(['0x01', '0x02'], uncertain()));
    await send();
    const lacking = blockOf(['0x03'], uncertain(['bloom']));
    await reread([{ block: lacking }, { block: blockOf(['0x01', '0x02', '0x03']) }], {
      streams: [id],
    });
    expect(await deliveriesOf(id)).toEqual(['unconfirmed 0x01 0x02', 'unconfirmed 0x03']);
  });
});

test('records that returned after nodes lacked them did not appear', async () => {
  const early = await createStream();
  const changed = await createStream();
  await commit([early], blockOf(['0x01'], uncertain()));
  const lacking = blockOf([], uncertain(['bloom']));
  // A stream whose rules match the block only now gets no records that were read before.
  await reread([{ block: lacking }, { block: blockOf(['0x01', '0x02']) }], {
    streams: [early, changed],
  });
  expect(await deliveriesOf(early)).toEqual(['unconfirmed 0x01', 'unconfirmed 0x02']);
  expect(await deliveriesOf(changed)).toEqual(['unconfirmed 0x02']);
});

describe('records that appeared', () => {
  test('are matched for a stream that was paused since', async () => {
    const id = await createStream();
    await commit([id], blockOf(['0x01'], uncertain()));
    await store.setStreamStatus(id, 'paused', '');
    await reread([{ block: blockOf(['0x01', '0x02']) }], { streams: [] });
    await store.setStreamStatus(id, 'active', '');
    expect(await deliveriesOf(id)).toEqual(['unconfirmed 0x01', 'unconfirmed 0x02']);
  });

  test('are found although the ledger has only a digest of the earlier ones', async () => {
    const id = await createStream();
    await commit([id], blockOf(['0x01'], uncertain()), '#9000 digest');
    await reread([{ block: blockOf(['0x01', '0x02']) }], { streams: [id] });
    expect(await deliveriesOf(id)).toEqual(['unconfirmed 0x01', 'unconfirmed 0x02']);
  });

  test('are sent once each if they appear one after another', async () => {
    const id = await createStream();
    await commit([id], blockOf(['0x01'], uncertain()));
    await reread(
      [
        { block: blockOf(['0x01', '0x02'], uncertain()) },
        { block: blockOf(['0x01', '0x02', '0x02'], uncertain()) },
        { block: blockOf(['0x03', '0x01', '0x02', '0x02'], uncertain()) },
      ],
      { streams: [id] },
    );
    expect(await deliveriesOf(id)).toEqual([
      'unconfirmed 0x01',
      'unconfirmed 0x02',
      'unconfirmed 0x02',
      'unconfirmed 0x03',
    ]);
    expect(await store.readUnverified(CHAIN)).toMatchObject({ blocks: 1 });
  });

  test('are not sent to a stream that got them when the block returned', async () => {
    const early = await createStream();
    const late = await createStream();
    await commit([early], blockOf(['0x01'], uncertain()));
    await store.rewindChain({
      chain: CHAIN,
      epoch,
      ancestor: { number: 0, hash: HEADER.parentHash },
    });
    await commit([early, late], blockOf(['0x01', '0x02']));
    await reread([{ block: blockOf(['0x01', '0x02']) }], { streams: [early, late] });
    expect(await deliveriesOf(early)).toEqual(['unconfirmed 0x01', 'unconfirmed 0x02']);
    expect(await deliveriesOf(late)).toEqual(['unconfirmed 0x01 0x02']);
  });
});

describe('a reading', () => {
  test('does not count while a node is away and nothing changed', async () => {
    const id = await createStream();
    const same = blockOf(['0x01'], uncertain());
    await commit([id], same);
    const reads = await reread([
      { block: same, isComplete: false },
      {},
      { block: same, isComplete: false },
      { block: same },
      { block: same },
      { block: same },
    ]);
    expect(reads).toBe(6);
    expect(await deliveriesOf(id)).toEqual(['unconfirmed 0x01']);
    expect(await store.readUnverified(CHAIN)).toMatchObject({ blocks: 1 });
  });

  test('does not count while another block is at the height', async () => {
    const id = await createStream();
    await commit([id], blockOf(['0x01'], uncertain()));
    const changed = { block: blockOf(['0x01', '0x02']) };
    const header = { ...HEADER, hash: `0x${'2'.repeat(64)}` };
    expect(await reread([changed, changed], { streams: [id], header })).toBeGreaterThan(2);
    expect(await deliveriesOf(id)).toEqual(['unconfirmed 0x01']);
    expect(await store.countUncertain()).toEqual({ [CHAIN]: 1 });
  });
});
