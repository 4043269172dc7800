/** Determines whether this process is ready for traffic, as `/ready` reports to load balancers. */
import { LOCAL_FAILURES, type LocalFailure } from '../deliver/send/localFailure.ts';
import { type Log, describeError } from '../base/log.ts';
import { hasCode } from '../base/errors.ts';
import type { Store } from '../store/store.ts';

export interface Readiness {
  /** Returns the reasons why the process is not ready; empty if it is ready. */
  read(): Promise<string[]>;
  /** Records that all parts of the service are running. Until then, the process is not ready. */
  started(): void;
  /**
   * Records that an attempt failed in this process. If a resource is exhausted, the process is not
   * ready for a few seconds.
   */
  recordLocalFailure(cause: LocalFailure): void;
  /** Records that the process stops accepting work. */
  stopping(): void;
}

/** Minimum time between checks of the ledger, each of which writes to it. */
const CHECK_MS = 1_000;
const PATIENCE_MS = 3_000;
/**
 * Time after which waiting for enrichment counts as stalled. Enrichment usually takes milliseconds,
 * or about 15 seconds if nodes refuse a part of it.
 */
const STALLED_MS = 120_000;
/**
 * Time for which a resource counts as exhausted after a failure. Attempts that could not be sent
 * are repeated every second.
 */
const MISSING_MS = 5_000;

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no response within ${PATIENCE_MS} ms`)),
      PATIENCE_MS,
    );
  });
  try {
    return await Promise.race([work, patience]);
  } finally {
    clearTimeout(timer);
  }
}

export function createReadiness(
  store: Store,
  log: Log,
  /** Returns whether the chain is being read without problems. */
  isWell: (chain: string) => boolean,
  /** Returns a message that explains why this process cannot work yet; undefined if it can. */
  whyUnprepared: () => string | undefined = () => undefined,
): Readiness {
  let phase: 'starting' | 'running' | 'stopping' = 'starting';
  let looked: { at: number; reasons: Promise<string[]> } | undefined;
  let lacking: { reason: string; at: number } | undefined;
  /** The write in progress. Only one runs at a time, because a waiting write holds a connection. */
  let writing: Promise<void> | undefined;

  /**
   * Returns a reason for each chain on which deliveries wait too long for enrichment. Skips chains
   * whose nodes are unavailable, because another process could not reach them either.
   */
  const listStalled = async (): Promise<string[]> => {
    const now = await store.readLedgerTime();
    return (await store.listEnrichingSince())
      .filter(({ chain, since }) => now - since >= STALLED_MS && isWell(chain))
      .map(
        ({ chain, since }) =>
          `deliveries of ${chain} have waited ${Math.round((now - since) / 1000)} s for enrichment; see the log`,
      );
  };

  /**
   * Checks the ledger, and returns the reasons why the process is not ready; empty if there are
   * none. Details are only logged, because they may contain host and user names.
   */
  const look = async (): Promise<string[]> => {
    writing ??= store.checkWritable().finally(() => (writing = undefined));
    try {
      await inTime(writing);
      return await inTime(listStalled());
    } catch (error) {
      log.warn('not ready: the ledger cannot be written', { error: describeError(error) });
      const isWaiting = await inTime(store.countWaitingCommits()).then(
        (commits) => commits > 0,
        (reason: unknown) => hasCode(reason, 'no_standby'),
      );
      return [
        isWaiting
          ? 'commits are waiting for a standby of the database, and none responds'
          : 'the ledger cannot be written; see the log',
      ];
    }
  };

  return {
    async read() {
      if (phase !== 'running') return [`the service is ${phase}`];
      const now = performance.now();
      if (looked === undefined || now - looked.at >= CHECK_MS) {
        looked = { at: now, reasons: look() };
      }
      const unprepared = whyUnprepared();
      const reasons = [
        ...(unprepared === undefined ? [] : [unprepared]),
        ...(await looked.reasons),
      ];
      return lacking !== undefined && now - lacking.at < MISSING_MS
        ? [...reasons, lacking.reason]
        : reasons;
    },
    recordLocalFailure(cause) {
      // A stall is over by the time it is detected.
      if (cause === 'STALLED') return;
      const now = performance.now();
      const reason = `webhooks cannot be sent: ${LOCAL_FAILURES[cause]}`;
      if (lacking?.reason !== reason || now - lacking.at >= MISSING_MS) {
        log.error('webhooks cannot be sent', { cause, reason: LOCAL_FAILURES[cause] });
      }
      lacking = { reason, at: now };
    },
    started: () => void (phase = 'running'),
    stopping: () => void (phase = 'stopping'),
  };
}
