/**
 * Generates a day of sample data with about 100,000 deliveries: healthy, failing and paused
 * streams, an outage with a replay, and two reorgs. The newest blocks are also mined on the
 * scripted chains, so that the service continues from there.
 */
import { randomUUID } from 'node:crypto';
import { CONTRACT_SCHEDULE_MS, FAST_RETRY_MS } from '@sluice/kit/contract';
import type {
  SampleData,
  PastAttempt,
  PastChain,
  PastDelivery,
  PastMatch,
  PastReplay,
  PastStream,
} from './sqlitePast.ts';
import type { ScriptedAptosLedger, ScriptedChain } from '@sluice/testkit';
import { toAptosBody, toEvmBody, type PlacedTransaction } from './demoBodies.ts';
import { happeningsOn, happeningsOnAptos, toAptosTransaction } from './demoBlocks.ts';
import {
  type SimulatedResponse,
  APTOS,
  BASE_USDC,
  BRIDGED_USDC,
  DEMO_STREAMS,
  OUTAGE_AGO,
  toDraft,
  USDC,
  USDT,
} from './demoStreams.ts';
import { createRandom, type Random } from './random.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const WINDOW_BLOCKS = 256;
/** Waits in milliseconds after the first failed attempt, the second, and so on. */
const WAITS = [FAST_RETRY_MS, ...CONTRACT_SCHEDULE_MS];

/**
 * One in this many replayed swaps is rejected by the receiver as too old. The delivery of a
 * rejected swap is then stopped manually.
 */
const EVERY_STALE = 13;
const STALE = {
  durationMs: 21,
  status: 422,
  error: 'HTTP 422',
  responseBody: '{"error":"price is older than 30 minutes"}',
} as const;
const STOPPED = 'stopped by hand; the last attempt failed: HTTP 422';

export interface DemoChain {
  id: string;
  chain: ScriptedChain;
  blockMs: number;
  confirmations: number;
  /** Number of the newest block. */
  head: number;
  /** Age of the reorg and the number of removed blocks. */
  reorg: { agoMs: number; depth: number };
  halt?: { agoMs: number; lengthMs: number; why: string };
}

export interface DemoAptos {
  ledger: ScriptedAptosLedger;
  blockMs: number;
  head: number;
}

export interface DemoDayNeeds {
  chains: readonly DemoChain[];
  aptos: DemoAptos;
  webhookUrlOf(tag: string): string;
  nowMs: number;
  /** Length of the day, at least one hour. */
  spanMs: number;
}

type Block = PastMatch['block'];

export function makeDemoDay({
  chains,
  aptos,
  webhookUrlOf,
  nowMs,
  spanMs,
}: DemoDayNeeds): SampleData {
  const random = createRandom(1);
  const streams = Object.entries(DEMO_STREAMS).map(([tag, stream], index): PastStream => {
    const ageMs = (3 + 5 * index) * DAY;
    return {
      id: randomUUID(),
      draft: toDraft(stream, webhookUrlOf(tag)),
      // Long address lists, such as the deposit addresses, grew over time. Short ones have not
      // changed since the stream was created.
      addresses: stream.addresses.map((each, n, { length }) => ({
        ...each,
        addedAt: nowMs - (length < 100 ? ageMs : Math.round(ageMs * (1 - n / length))),
      })),
      status: stream.status,
      statusMessage: stream.statusMessage,
      errorSince: stream.errorAgoMs === undefined ? null : nowMs - stream.errorAgoMs,
      createdAt: nowMs - ageMs,
      changes: (stream.changes ?? []).map(({ agoMs, ...change }) => ({
        ...change,
        at: nowMs - agoMs,
      })),
    };
  });
  const idOf = new Map(streams.map(({ id, draft }) => [draft.tag, id]));
  const replay: PastReplay = {
    id: randomUUID(),
    name: 'all-swaps after the outage',
    filter: { streamId: idOf.get('all-swaps')!, status: 'none' },
    perSecond: 0.5,
    total: 0,
    createdAt: nowMs - OUTAGE_AGO.to + 4 * MINUTE,
    endedAt: nowMs - OUTAGE_AGO.to + 9 * MINUTE,
  };
  const deliver = createDeliveries({ random, nowMs, webhookUrlOf, replay });
  const windows = new Map(chains.map((each) => [each.id, [] as Block[]]));
  const aptosWindow: Block[] = [];

  function* matchesOf(each: DemoChain): Generator<PastMatch> {
    const window = windows.get(each.id)!;
    for (const { block, placed, tags, hasLeft } of evmBlocks(each, { random, nowMs, spanMs })) {
      window.push(block);
      for (const [tag, its] of byTag(placed, tags)) {
        const place = { tag, streamId: idOf.get(tag)!, chain: each.id };
        const seenAt = block.timestamp * 1000 + 300 + random.below(600);
        const confirmedAt = seenAt + each.confirmations * each.blockMs;
        const isConfirmed = confirmedAt < nowMs;
        yield {
          ...place,
          block,
          state: isConfirmed ? 'confirmed' : 'frozen',
          ...toEvmBody({ ...place, block }, its),
          deliveries: [
            deliver(tag, 'unconfirmed', seenAt),
            ...(isConfirmed ? [deliver(tag, 'confirmed', confirmedAt)] : []),
          ],
        };
        if (!hasLeft) continue;
        const left = { ...block, hash: random.hex(32) };
        yield {
          ...place,
          block: left,
          state: 'orphaned',
          ...toEvmBody({ ...place, block: left }, its),
          deliveries: [
            random.next() < 0.5
              ? deliver(tag, 'unconfirmed', seenAt - 800)
              : { phase: 'unconfirmed', state: 'cancelled', createdAt: seenAt - 800, attempts: [] },
          ],
        };
      }
    }
    window.splice(0, window.length - WINDOW_BLOCKS);
  }

  function* aptosMatches(): Generator<PastMatch> {
    for (const { block, hash, happening } of aptosBlocks(aptos, { random, nowMs, spanMs })) {
      aptosWindow.push(block);
      for (const tag of happening?.tags ?? []) {
        const place = { tag, streamId: idOf.get(tag)!, chain: APTOS };
        yield {
          ...place,
          block,
          state: 'confirmed',
          ...toAptosBody({ ...place, block }, hash, happening!),
          deliveries: [deliver(tag, 'confirmed', block.timestamp * 1000 + 200 + random.below(300))],
        };
      }
    }
    aptosWindow.splice(0, aptosWindow.length - WINDOW_BLOCKS);
  }

  return {
    streams,
    replays: [replay],
    *matches() {
      for (const each of chains) yield* matchesOf(each);
      yield* aptosMatches();
    },
    chains: [
      ...chains.map((each): PastChain => ({
        id: each.id,
        genesisHash: each.chain.blockAt(0n)!.hash,
        window: windows.get(each.id)!,
        firstBlock: each.head - spanMs / each.blockMs + 1,
        reorgs: [
          {
            blockNumber:
              each.head -
              Math.ceil((each.reorg.agoMs + each.reorg.depth * each.blockMs) / each.blockMs),
            depth: each.reorg.depth,
            at: nowMs - each.reorg.agoMs,
          },
        ],
        gaps: each.halt === undefined ? [] : [toGap(each, each.halt, nowMs)],
        tokens: [USDT, USDC, BASE_USDC, BRIDGED_USDC].map((token) => ({
          ...token,
          standard: '',
          blockNumber: each.head,
        })),
      })),
      {
        id: APTOS,
        genesisHash: String(aptos.ledger.chainId),
        window: aptosWindow,
        firstBlock: aptos.head - spanMs / aptos.blockMs + 1,
        reorgs: [],
        gaps: [],
        tokens: [],
      },
    ],
  };
}

/**
 * Returns the gap of a halt. The chain later continued with the block at which it halted, so no
 * block is missing.
 */
const toGap = (
  { head, blockMs }: DemoChain,
  { agoMs, lengthMs, why }: NonNullable<DemoChain['halt']>,
  nowMs: number,
): PastChain['gaps'][number] => ({
  kind: 'halted',
  from: head - Math.ceil(agoMs / blockMs),
  to: null,
  reason: why,
  at: nowMs - agoMs,
  endedAt: nowMs - agoMs + lengthMs,
});

interface Span {
  random: Random;
  nowMs: number;
  spanMs: number;
}

/**
 * Generates the blocks of the day, oldest first. Only the blocks of the window are mined on the
 * chain.
 */
function* evmBlocks(
  { id, chain, blockMs, head, reorg }: DemoChain,
  { random, nowMs, spanMs }: Span,
) {
  const count = spanMs / blockMs;
  let parentHash: string = random.hex(32);
  for (let index = 1; index <= count; index++) {
    const timestamp = Math.floor((nowMs - (count - index) * blockMs) / 1000) - 1;
    const sinceReorg = nowMs - timestamp * 1000 - reorg.agoMs;
    const hasLeft = sinceReorg >= 0 && sinceReorg < reorg.depth * blockMs;
    let happenings = happeningsOn(id, random);
    // A reorg without removed deliveries would not be visible.
    while (hasLeft && happenings.length === 0) happenings = happeningsOn(id, random);
    const tags = happenings.map((happening) => happening.tags);
    const transactions = happenings.map(({ transaction }) => transaction);
    let block: Block;
    let placed: PlacedTransaction[];
    if (index > count - WINDOW_BLOCKS) {
      const mined = chain.mine({ transactions, timestamp: BigInt(timestamp) });
      block = { number: Number(mined.number), hash: mined.hash, parentHash, timestamp };
      placed = transactions.map((transaction, at) => ({
        transaction,
        hash: mined.transactions[at]!.hash,
        logIndex: mined.transactions[at]!.logs[0]?.logIndex ?? 0,
      }));
    } else {
      block = { number: head - count + index, hash: random.hex(32), parentHash, timestamp };
      placed = transactions.map((transaction) => ({
        transaction,
        hash: random.hex(32),
        logIndex: random.below(400),
      }));
    }
    parentHash = block.hash;
    yield { block, placed, tags, hasLeft };
  }
}

function* aptosBlocks({ ledger, blockMs, head }: DemoAptos, { random, nowMs, spanMs }: Span) {
  const count = spanMs / blockMs;
  let parentHash: string = random.hex(32);
  for (let index = 1; index <= count; index++) {
    const timestamp = Math.floor((nowMs - (count - index) * blockMs) / 1000) - 1;
    const [happening] = happeningsOnAptos(random);
    let hash = '';
    let block: Block;
    if (index > count - WINDOW_BLOCKS) {
      const mined = ledger.mine({
        transactions: happening === undefined ? [] : [toAptosTransaction(happening)],
        timestampUsecs: BigInt(timestamp) * 1_000_000n,
      });
      if (happening !== undefined) hash = mined.transactions[1]!.hash;
      block = {
        number: Number(mined.height),
        hash: mined.hash,
        parentHash,
        timestamp,
        lastVersion: Number(mined.lastVersion),
      };
    } else {
      if (happening !== undefined) hash = random.hex(32);
      block = {
        number: head - count + index,
        hash: random.hex(32),
        parentHash,
        timestamp,
        lastVersion: Number(ledger.oldest.firstVersion) - (count - index) * 3,
      };
    }
    parentHash = block.hash;
    yield { block, hash, happening };
  }
}

function byTag(
  placed: readonly PlacedTransaction[],
  tags: readonly (readonly string[])[],
): Map<string, PlacedTransaction[]> {
  const found = new Map<string, PlacedTransaction[]>();
  for (const [index, each] of placed.entries()) {
    for (const tag of tags[index] ?? []) found.set(tag, [...(found.get(tag) ?? []), each]);
  }
  return found;
}

/**
 * Returns a function that simulates the attempts of a delivery, based on the receiver's responses
 * and the schedule.
 */
function createDeliveries({
  random,
  nowMs,
  webhookUrlOf,
  replay,
}: Pick<DemoDayNeeds, 'nowMs' | 'webhookUrlOf'> & { random: Random; replay: PastReplay }) {
  return (tag: string, phase: PastDelivery['phase'], createdAt: number): PastDelivery => {
    const stream = DEMO_STREAMS[tag]!;
    const attempts: PastAttempt[] = [];
    let replayId: string | undefined;
    let isStale = false;
    let at = createdAt + 3 + random.below(25);
    while (at <= nowMs) {
      const answer = isStale ? STALE : stream.answer(nowMs - at, random);
      const webhookUrl = webhookUrlOf(tag);
      const transport = attempts.length === 0 ? null : onNewConnection(webhookUrl, answer);
      attempts.push({ webhookUrl, startedAt: at, transport, ...answer });
      if (isStale) {
        return { phase, state: 'failed', createdAt, attempts, replayId, error: STOPPED };
      }
      if (answer.error === null) {
        return { phase, state: 'succeeded', createdAt, attempts, replayId };
      }
      const wait = WAITS[attempts.length - 1] ?? DAY;
      const ended = at + answer.durationMs;
      at = ended + Math.round(wait * (1 + random.next() / 10));
      const isReplayed = tag === 'all-swaps' && ended < replay.createdAt && at > replay.createdAt;
      if (isReplayed) {
        at = replay.createdAt + (replay.total / replay.perSecond) * 1_000;
        replay.total++;
        replayId = replay.id;
        isStale = replay.total % EVERY_STALE === 0;
      }
    }
    return { phase, state: 'pending', createdAt, dueAt: at, attempts };
  };
}

/**
 * Returns the connection details of a retry. A retry opens a new connection, because the connection
 * of the previous attempt was closed.
 */
const onNewConnection = (
  webhookUrl: string,
  { status, durationMs }: SimulatedResponse,
): PastAttempt['transport'] => ({
  parts: {
    dnsMs: null,
    connectMs: 1,
    tlsMs: null,
    waitMs: durationMs - 1,
    bodyMs: status === null ? null : 0,
  },
  address: new URL(webhookUrl).host,
  certificate: null,
});
