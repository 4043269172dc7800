/**
 * Completes what was committed as `enriching`, one chain by itself: reads the oldest matches, asks
 * the chain at their blocks, writes each body once and makes its deliveries due. The match row is the
 * job: what is under way when the process ends is found again. Work under way is bounded together and
 * per stream, so that one slow stream holds no other back; and each chain has its own, so that one
 * stalled node holds back no other chain. Ingestion waits for none of it.
 */
import type { DeliverySummary } from '@sluice/kit/contract';
import { createWaker } from '../base/waker.ts';
import { type Log, describeError } from '../base/log.ts';
import { createBatchWriter } from '../store/engine/batchWriter.ts';
import type { CompletedMatch, EnrichingMatch, WholeBody } from '../store/enrichment/contract.ts';
import type { Store } from '../store/store.ts';
import { hasCode } from '../base/errors.ts';

export interface EnrichPool {
  /** Why matches wait; empty while nothing is wrong. */
  readonly trouble: string;
  /** Begins, or begins again after a stop, with this epoch of the chain's lease. */
  start(epoch: number): void;
  /** A block was committed: look for matches now. */
  notice(): void;
  /** Takes nothing more and waits for what is under way, which ends when its source is stopped. */
  stop(): Promise<void>;
}

/** A notice may be lost with another process. */
const POLL_MS = 5_000;
/** After so many refusals a body goes without what was refused; some 15 seconds with the waits. */
const TRIES = 6;
const RETRY_MS = 500;
const RETRY_MAX_MS = 10_000;

export function createEnrichPool({
  chain,
  store,
  log,
  waiting,
  complete,
  onDeliveries,
  retryMs = RETRY_MS,
}: {
  chain: string;
  store: Store;
  log: Log;
  /** For people: what waits while the nodes cannot be asked. */
  waiting: string;
  /**
   * The end of a match's body, whole, and what it says now, in a line; undefined when the nodes refused a part of it, which is tried
   * again but for the last time. Throws a `RetryableError` when nothing could be asked.
   */
  complete(match: EnrichingMatch, isLastTry: boolean): Promise<WholeBody | undefined>;
  /** Deliveries that have become due. */
  onDeliveries(deliveries: DeliverySummary[]): void;
  /** First wait after a failure, doubled with each; default 500. */
  retryMs?: number | undefined;
}): EnrichPool {
  const backOffMs = (failures: number): number =>
    Math.min(retryMs * 2 ** Math.max(0, failures - 1), RETRY_MAX_MS);
  const queue = createMatchQueue(chain, store);
  const outages = createOutages({ chain, log, waiting, backOffMs });
  let epoch = 0;
  let stopping = false;
  const waker = createWaker();
  let running: Promise<void> | undefined;

  const write = async (batch: readonly CompletedMatch[]): Promise<void> => {
    try {
      const changed = await store.completeEnrichments({ chain, epoch, completed: batch });
      if (changed !== undefined && changed.length > 0) onDeliveries(changed);
    } catch (error) {
      // The match row is the job: the next process finds it again.
      if (!stopping) throw error;
    }
    for (const { matchId } of batch) forget(matchId);
  };

  const results = createBatchWriter<CompletedMatch>({
    write,
    toRefused(completed, error) {
      const { matchId } = completed;
      if ('setAside' in completed) {
        log.error('cannot set a match aside', { chain, match: matchId, error: String(error) });
        rest(matchId, queue.tries(matchId) + 1, RETRY_MAX_MS);
        return undefined;
      }
      const reason = `the ledger refuses its body: ${describeError(error)}; replay it once the cause is fixed`;
      log.error('match set aside', { chain, match: matchId, reason });
      return { matchId, setAside: reason };
    },
    onDelay: (error, count) =>
      log.error('cannot complete matches, trying again', { chain, count, error: String(error) }),
  });

  const forget = (matchId: string): void => {
    queue.forget(matchId);
    waker.wake();
  };

  const rest = (matchId: string, tries: number, waitMs: number): void => {
    queue.rest(matchId, tries, Date.now() + waitMs);
    waker.wake();
  };

  const finish = (matchId: string, body: WholeBody): void => {
    results.add({ matchId, ...body });
    void results.flush();
  };

  const enrich = async (match: EnrichingMatch): Promise<void> => {
    const { id, block } = match;
    const tries = queue.begin(match);
    const isLastTry = tries >= TRIES;
    try {
      const body = await complete(match, isLastTry);
      outages.end();
      if (body === undefined) rest(id, tries, backOffMs(tries));
      else finish(id, body);
    } catch (error) {
      if (hasCode(error, 'unavailable')) {
        if (!stopping) outages.note(error);
        rest(id, tries - 1, backOffMs(outages.count()));
        return;
      }
      // A fault of ours must not hold a delivery back for ever.
      log.error('enrichment failed', { chain, block: block.number, error: describeError(error) });
      if (isLastTry) finish(id, { bodyTail: match.bodyTail, about: '' });
      else rest(id, tries, backOffMs(tries));
    }
  };

  const pause = async (): Promise<void> => {
    const now = Date.now();
    await waker.sleep(Math.min(now + POLL_MS, outages.endsAt(now), queue.nextAt(now)) - now);
  };

  const run = async (): Promise<void> => {
    while (!stopping) {
      let found: EnrichingMatch[] = [];
      try {
        const now = Date.now();
        if (outages.endsAt(now) === Number.POSITIVE_INFINITY) found = await queue.list(now);
      } catch (error) {
        log.error('cannot list matches to enrich, trying again', { chain, error: String(error) });
      }
      for (const match of found) void enrich(match);
      if (found.length === 0) await pause();
    }
  };

  return {
    get trouble() {
      return outages.trouble();
    },
    start(its) {
      epoch = its;
      stopping = false;
      running = run();
    },
    notice: waker.wake,
    async stop() {
      stopping = true;
      waker.wake();
      await running;
      while (queue.underWay() > 0) {
        await pause();
      }
      await results.flush();
    },
  };
}

/** While the nodes are out of reach nothing is asked of them, for longer with each outage on end. */
function createOutages({
  chain,
  log,
  waiting,
  backOffMs,
}: {
  chain: string;
  log: Log;
  waiting: string;
  backOffMs(count: number): number;
}) {
  let count = 0;
  let until = 0;
  let trouble = '';
  return {
    count: () => count,
    trouble: () => trouble,
    /** Infinity where there is none. */
    endsAt: (nowMs: number): number => (until > nowMs ? until : Number.POSITIVE_INFINITY),
    note(error: Error): void {
      // What was under way together failed together: that is one outage.
      if (Date.now() < until) return;
      count++;
      until = Date.now() + backOffMs(count);
      trouble = `${waiting}: ${error.message}`;
      if (count === 1) log.warn('enrichment waits', { chain, reason: error.message });
    },
    end(): void {
      if (count > 0) log.info('enrichment goes on', { chain });
      count = until = 0;
      trouble = '';
    },
  };
}

export interface MatchQueue {
  /** The oldest matches that there is room for. */
  list(nowMs: number): Promise<EnrichingMatch[]>;
  /** The match is under way from now on. Returns how many tries this makes. */
  begin(match: Pick<EnrichingMatch, 'id' | 'streamId'>): number;
  /** The match is under way no more, and not tried again before this time. */
  rest(matchId: string, tries: number, untilMs: number): void;
  /** The match is done. */
  forget(matchId: string): void;
  tries(matchId: string): number;
  /** When the next match that rests may be tried; infinity where none rests. */
  nextAt(nowMs: number): number;
  underWay(): number;
}

const IN_FLIGHT = 32;
const IN_FLIGHT_PER_STREAM = 2;
const FORGET_MS = 10 * 60_000;

/** The matches of one chain that are being completed, and those that failed and rest before the next try. */
export function createMatchQueue(chain: string, store: Pick<Store, 'listEnriching'>): MatchQueue {
  /** Streams of the matches under way, by match. */
  const inFlight = new Map<string, string>();
  const resting = new Map<string, { tries: number; until: number }>();
  const tries = (matchId: string): number => resting.get(matchId)?.tries ?? 0;

  return {
    async list(now) {
      const room = IN_FLIGHT - inFlight.size;
      if (room === 0) return [];
      const perStream = new Map<string, number>();
      for (const streamId of inFlight.values()) {
        perStream.set(streamId, (perStream.get(streamId) ?? 0) + 1);
      }
      // Some are never listed again: their block or their stream is gone.
      for (const [id, { until }] of resting) if (until < now - FORGET_MS) resting.delete(id);
      const full = [...perStream].filter(([, n]) => n >= IN_FLIGHT_PER_STREAM).map(([id]) => id);
      const asleep = [...resting].filter(([, { until }]) => until > now).map(([id]) => id);
      const found = await store.listEnriching({
        chain,
        limit: room,
        perStream: IN_FLIGHT_PER_STREAM,
        notStreams: full,
        notMatches: [...inFlight.keys(), ...asleep],
      });
      return found.filter(({ streamId }) => {
        const n = perStream.get(streamId) ?? 0;
        perStream.set(streamId, n + 1);
        return n < IN_FLIGHT_PER_STREAM;
      });
    },
    begin({ id, streamId }) {
      inFlight.set(id, streamId);
      return tries(id) + 1;
    },
    rest(matchId, tried, until) {
      inFlight.delete(matchId);
      resting.set(matchId, { tries: tried, until });
    },
    forget(matchId) {
      inFlight.delete(matchId);
      resting.delete(matchId);
    },
    tries,
    nextAt: (now) =>
      Math.min(...[...resting.values()].map(({ until }) => until).filter((at) => at > now)),
    underWay: () => inFlight.size,
  };
}
