/**
 * Completes what was committed as `enriching`, one chain by itself: reads the oldest matches, asks
 * the chain at their blocks, writes each body once and makes its deliveries due. The match row is the
 * job: what is under way when the process ends is found again. Work under way is bounded together and
 * per stream, so that one slow stream holds no other back; and each chain has its own, so that one
 * stalled node holds back no other chain. Ingestion waits for none of it.
 */
import { createWaker } from '../waker.ts';
import type { DeliverySummary } from '@sluice/kit/contract';
import { type Log, describeError } from '../observe.ts';
import { createBatchWriter } from '../store/batchWriter.ts';
import type { CompletedMatch, EnrichingMatch, Store, WholeBody } from '../store/store.ts';
import { Outage } from './state.ts';

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

const IN_FLIGHT = 32;
const IN_FLIGHT_PER_STREAM = 2;
/** A notice may be lost with another process. */
const POLL_MS = 5_000;
/** After so many refusals a body goes without what was refused; some 15 seconds with the waits. */
const TRIES = 6;
const RETRY_MS = 500;
const RETRY_MAX_MS = 10_000;
const FORGET_MS = 10 * 60_000;

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
   * again but for the last time. Throws an {@link Outage} when nothing could be asked.
   */
  complete(match: EnrichingMatch, isLastTry: boolean): Promise<WholeBody | undefined>;
  /** Deliveries that have become due. */
  onDeliveries(deliveries: DeliverySummary[]): void;
  /** First wait after a failure, doubled with each; default 500. */
  retryMs?: number | undefined;
}): EnrichPool {
  const backOffMs = (failures: number): number =>
    Math.min(retryMs * 2 ** Math.max(0, failures - 1), RETRY_MAX_MS);
  /** Streams of the matches under way, by match. */
  const inFlight = new Map<string, string>();
  /** Matches that failed, until they are tried again. */
  const resting = new Map<string, { tries: number; until: number }>();
  let outages = 0;
  let outageUntil = 0;
  let trouble = '';
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
        rest(matchId, (resting.get(matchId)?.tries ?? 0) + 1, RETRY_MAX_MS);
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
    inFlight.delete(matchId);
    resting.delete(matchId);
    waker.wake();
  };

  const rest = (matchId: string, tries: number, waitMs: number): void => {
    inFlight.delete(matchId);
    resting.set(matchId, { tries, until: Date.now() + waitMs });
    waker.wake();
  };

  const finish = (matchId: string, body: WholeBody): void => {
    results.add({ matchId, ...body });
    void results.flush();
  };

  const enrich = async (match: EnrichingMatch): Promise<void> => {
    const { id, block } = match;
    inFlight.set(id, match.streamId);
    const tries = (resting.get(id)?.tries ?? 0) + 1;
    const isLastTry = tries >= TRIES;
    try {
      const body = await complete(match, isLastTry);
      noteSuccess();
      if (body === undefined) rest(id, tries, backOffMs(tries));
      else finish(id, body);
    } catch (error) {
      if (error instanceof Outage) {
        noteOutage(error);
        rest(id, tries - 1, backOffMs(outages));
        return;
      }
      // A fault of ours must not hold a delivery back for ever.
      log.error('enrichment failed', { chain, block: block.number, error: describeError(error) });
      if (isLastTry) finish(id, { bodyTail: match.bodyTail, about: '' });
      else rest(id, tries, backOffMs(tries));
    }
  };

  const noteSuccess = (): void => {
    if (outages > 0) log.info('enrichment goes on', { chain });
    outages = 0;
    outageUntil = 0;
    trouble = '';
  };

  const noteOutage = (error: Outage): void => {
    // What was under way together failed together: that is one outage.
    if (stopping || Date.now() < outageUntil) return;
    outages++;
    outageUntil = Date.now() + backOffMs(outages);
    trouble = `${waiting}: ${error.message}`;
    if (outages === 1) log.warn('enrichment waits', { chain, reason: error.message });
  };

  /** The next matches there is room for; none while the nodes are out of reach. */
  const list = async (): Promise<EnrichingMatch[]> => {
    const now = Date.now();
    const room = IN_FLIGHT - inFlight.size;
    if (room === 0 || now < outageUntil) return [];
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
  };

  const pause = async (): Promise<void> => {
    const now = Date.now();
    const dates = [outageUntil, ...[...resting.values()].map(({ until }) => until)];
    const next = Math.min(now + POLL_MS, ...dates.filter((date) => date > now));
    await waker.sleep(next - now);
  };

  const run = async (): Promise<void> => {
    while (!stopping) {
      let found: EnrichingMatch[] = [];
      try {
        found = await list();
      } catch (error) {
        log.error('cannot list matches to enrich, trying again', { chain, error: String(error) });
      }
      for (const match of found) void enrich(match);
      if (found.length === 0) await pause();
    }
  };

  return {
    get trouble() {
      return trouble;
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
      while (inFlight.size > 0) {
        await pause();
      }
      await results.flush();
    },
  };
}
