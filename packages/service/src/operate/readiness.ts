/** Whether this process is fit for traffic: what `/ready` answers to a load balancer. */
import { LOCAL_FAILURES, type LocalFailure } from '../deliver/send/localFailure.ts';
import { type Log, describeError } from '../base/log.ts';
import { hasCode } from '../base/errors.ts';
import type { Store } from '../store/store.ts';

export interface Readiness {
  /** Why not, for people; empty when it is ready. */
  read(): Promise<string[]>;
  /** Its parts run; before, it is starting. */
  started(): void;
  /** An attempt to deliver failed for want of something that this process needs for everything. */
  noteLocalFailure(cause: LocalFailure): void;
  /** From here on it takes nothing new. */
  stopping(): void;
}

/** However many ask, the ledger is written to no more often. */
const LOOK_MS = 1_000;
const PATIENCE_MS = 3_000;
/** Enrichment takes milliseconds, and some 15 seconds where nodes refuse a part of it. */
const STALLED_MS = 120_000;
/** A resource that was lacking counts as lacking for this long; deliveries are retried every second. */
const LACKING_MS = 5_000;

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${PATIENCE_MS} ms`)), PATIENCE_MS);
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
  /** Whether a chain is read, and its nodes answer. */
  isWell: (chain: string) => boolean,
): Readiness {
  let phase: 'starting' | 'running' | 'stopping' = 'starting';
  let looked: { at: number; reasons: Promise<string[]> } | undefined;
  let lacking: { reason: string; at: number } | undefined;
  /** One at a time, however long it takes: a write that waits holds a connection. */
  let writing: Promise<void> | undefined;

  /** While its nodes are away a chain waits for them, which another process would do as well. */
  const listStalled = async (): Promise<string[]> => {
    const now = await store.readLedgerTime();
    return (await store.listEnrichingSince())
      .filter(({ chain, since }) => now - since >= STALLED_MS && isWell(chain))
      .map(
        ({ chain, since }) =>
          `deliveries of ${chain} have waited ${Math.round((now - since) / 1000)} s for enrichment: the log says why`,
      );
  };

  /** What went wrong stands in the log alone: it may name hosts and users. */
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
          ? 'commits wait for a standby of the database, and none answers'
          : 'the ledger cannot be written: the log says why',
      ];
    }
  };

  return {
    async read() {
      if (phase !== 'running') return [`the service is ${phase}`];
      const now = performance.now();
      if (looked === undefined || now - looked.at >= LOOK_MS) {
        looked = { at: now, reasons: look() };
      }
      const reasons = await looked.reasons;
      return lacking !== undefined && now - lacking.at < LACKING_MS
        ? [...reasons, lacking.reason]
        : reasons;
    },
    noteLocalFailure(cause) {
      // A stall is over by the time it shows.
      if (cause === 'STALLED') return;
      const now = performance.now();
      const reason = `webhooks cannot be sent: ${LOCAL_FAILURES[cause]}`;
      if (lacking?.reason !== reason || now - lacking.at >= LACKING_MS) {
        log.error('webhooks cannot be sent', { cause, reason: LOCAL_FAILURES[cause] });
      }
      lacking = { reason, at: now };
    },
    started: () => void (phase = 'running'),
    stopping: () => void (phase = 'stopping'),
  };
}
