/**
 * Completes the matches of one chain that were committed as `enriching`: queries the chain at their
 * blocks, writes each body once and makes its deliveries due. Unfinished matches stay `enriching`
 * in the ledger, so the work continues after a restart.
 */
import { createWaker } from '../base/waker.ts';
import { type Log, describeError } from '../base/log.ts';
import { createBatchWriter } from '../store/engine/batchWriter.ts';
import type { CompletedMatch, EnrichingMatch, CompleteBody } from '../store/enrichment/contract.ts';
import type { Store } from '../store/store.ts';
import { hasCode } from '../base/errors.ts';
import { createMatchQueue } from './matchQueue.ts';

export interface EnrichPool {
  /** Message that describes the current outage; empty if there is none. */
  readonly trouble: string;
  /** Starts, or restarts after a stop, with this epoch of the chain's lease. */
  start(epoch: number): void;
  /** Looks for matches now instead of at the next poll. Called on each `deliveries` signal. */
  wake(): void;
  /**
   * Stops taking matches and waits for matches in progress, whose reads end when the source stops.
   */
  stop(): Promise<void>;
}

/** Interval of polls, which find matches whose signal was lost. */
const POLL_MS = 5_000;
/**
 * Maximum number of tries of a match, over about 15 seconds. The last try leaves out data that the
 * nodes refuse. Tries that fail because no node can be queried do not count.
 */
const TRIES = 6;
const RETRY_MS = 500;
const RETRY_MAX_MS = 10_000;

export function createEnrichPool({
  chain,
  store,
  log,
  waiting,
  complete,
  retryMs = RETRY_MS,
}: {
  chain: string;
  store: Store;
  log: Log;
  /** Beginning of the message about an outage, e.g. `coin metadata is waiting`. */
  waiting: string;
  /**
   * Returns the completed tail of a match's body, and a one-line description of the body; undefined
   * if the nodes refused some data that another try may get.
   * @throws RetryableError if no node could be queried
   */
  complete(match: EnrichingMatch, isLastTry: boolean): Promise<CompleteBody | undefined>;
  /**
   * Milliseconds before the first retry; doubled for each further retry, up to 10 seconds. Default:
   * 500.
   */
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
      await store.completeEnrichments({ chain, epoch, completed: batch });
    } catch (error) {
      // While stopping, errors are ignored: the matches are still `enriching` in the ledger, so
      // they are completed after the next start.
      if (!stopping) throw error;
    }
    for (const { matchId } of batch) forget(matchId);
  };

  const results = createBatchWriter<CompletedMatch>({
    write,
    toRefused(completed, error) {
      const { matchId } = completed;
      if ('setAside' in completed) {
        log.error('failed to set a match aside', { chain, match: matchId, error: String(error) });
        rest(matchId, queue.tries(matchId) + 1, RETRY_MAX_MS);
        return undefined;
      }
      const reason = `the ledger rejected the body: ${describeError(error)}. Replay the delivery once the cause is fixed`;
      log.error('match set aside', { chain, match: matchId, reason });
      return { matchId, setAside: reason };
    },
    onDelay: (error, count) =>
      log.error('failed to complete matches, retrying', { chain, count, error: String(error) }),
  });

  const forget = (matchId: string): void => {
    queue.forget(matchId);
    waker.wake();
  };

  const rest = (matchId: string, tries: number, waitMs: number): void => {
    queue.rest(matchId, tries, Date.now() + waitMs);
    waker.wake();
  };

  const finish = (matchId: string, body: CompleteBody): void => {
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
      // Any other error is a bug. The try counts, so that the bug does not block the delivery
      // forever.
      log.error('enrichment failed', { chain, block: block.number, error: describeError(error) });
      if (isLastTry) finish(id, { bodyTail: match.bodyTail, about: '' });
      else rest(id, tries, backOffMs(tries));
    }
  };

  /** Sleeps until there may be a match that was not due at `since`. */
  const pause = async (since: number): Promise<void> => {
    const until = Math.min(since + POLL_MS, outages.endsAt(since), queue.nextAt(since));
    await waker.sleep(until - Date.now());
  };

  const run = async (): Promise<void> => {
    while (!stopping) {
      let found: EnrichingMatch[] = [];
      const now = Date.now();
      try {
        if (outages.endsAt(now) === Number.POSITIVE_INFINITY) found = await queue.list(now);
      } catch (error) {
        log.error('failed to list matches to enrich, retrying', { chain, error: String(error) });
      }
      for (const match of found) void enrich(match);
      if (found.length === 0) await pause(now);
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
    wake: waker.wake,
    async stop() {
      stopping = true;
      waker.wake();
      await running;
      while (queue.underWay() > 0) {
        await pause(Date.now());
      }
      await results.flush();
    },
  };
}

/**
 * Pauses all queries when no node can be queried. Each consecutive failure lengthens the pause, up
 * to a limit.
 */
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
    /** Returns the time at which queries may resume; infinity if they are not paused. */
    endsAt: (nowMs: number): number => (until > nowMs ? until : Number.POSITIVE_INFINITY),
    note(error: Error): void {
      // Concurrent requests that fail together count as one failure.
      if (Date.now() < until) return;
      count++;
      until = Date.now() + backOffMs(count);
      trouble = `${waiting}: ${error.message}`;
      if (count === 1) log.warn('enrichment paused', { chain, reason: error.message });
    },
    end(): void {
      if (count > 0) log.info('enrichment resumed', { chain });
      count = until = 0;
      trouble = '';
    },
  };
}
