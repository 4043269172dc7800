/**
 * Alerts the operator to problems and recoveries by webhook. Compares the current state with the
 * last reported one instead of following events, so a crash loses no alert.
 */
import { randomUUID } from 'node:crypto';
import { createWaker } from '../../base/waker.ts';
import type { Sender } from '../../deliver/send/send.ts';
import type { LeaseTerm } from '../duty.ts';
import { type Log, describeError } from '../../base/log.ts';
import type { AlertRow } from '../../store/alerts/contract.ts';
import type { Store } from '../../store/store.ts';
import { type SituationSources, type AlertContent, createSituation } from '../problems.ts';

const MINUTE_MS = 60_000;
const CHECK_MS = 2_000;
/** Minimum time between two alerts about a subject. */
const GAP_MS = 5 * MINUTE_MS;
/**
 * Minimum time between two requests. Many alerts may be due at once, because many streams may share
 * a failing receiver.
 */
const PACE_MS = 200;
/**
 * Waits after consecutive failures. If the attempt after the last wait fails, the alert is dropped.
 */
const SCHEDULE_MS: readonly number[] = [
  5_000,
  30_000,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  ...Array<number>(8).fill(60 * MINUTE_MS),
];
/**
 * State of a subject without a problem. Its row is deleted once no alert is waiting and the minimum
 * time since the last alert has passed.
 */
const WELL = '';

export interface NotifierOptions extends Pick<
  SituationSources,
  'chains' | 'deliveredMs' | 'diskFilling' | 'certificateExpiring'
> {
  /** Id of the receiver in the ledger; empty for `notifyUrl`. */
  receiver: string;
  url: string;
  store: Store;
  /** Sender that is used only for alerts, and closed on stop. */
  sender: Sender;
  log: Log;
  /** Intervals in milliseconds. Tests override the defaults. */
  timing?: { lookMs?: number; gapMs?: number; haltMs?: number; scheduleMs?: readonly number[] };
}

export function startNotifier({
  receiver,
  url,
  store,
  sender,
  deliveredMs,
  chains,
  diskFilling,
  certificateExpiring,
  log,
  timing,
}: NotifierOptions): LeaseTerm {
  const { lookMs = CHECK_MS, gapMs = GAP_MS } = timing ?? {};
  const schedule = timing?.scheduleMs ?? SCHEDULE_MS;
  let stopping = false;
  const waker = createWaker();
  const situation = createSituation({
    store,
    deliveredMs,
    chains,
    diskFilling,
    certificateExpiring,
    haltMs: timing?.haltMs,
  });
  /** Returns whether the state of a problem needs another alert: a higher count or a new state. */
  const isMore = (state: string, before: string): boolean =>
    /^\d+$/.test(state) ? Number(state) > Number(before) : state !== before;

  /**
   * Compares the current problems with the recorded states, and saves the alerts to send. Returns
   * the time by the ledger's clock.
   */
  const look = async (): Promise<number> => {
    const { now, problems } = await situation.readProblems();
    const rows = new Map((await store.listAlerts(receiver)).map((row) => [row.subject, row]));
    const save = (row: AlertRow | undefined, subject: string, state: string, alert: AlertContent) =>
      store.saveAlert({
        receiver,
        subject,
        state,
        reported: row?.reported ?? WELL,
        id: randomUUID(),
        body: JSON.stringify({ ...alert, timestamp: new Date(now).toISOString() }),
        attempts: 0,
        runAt: Math.max(now, (row?.sentAt ?? 0) + gapMs),
        sentAt: row?.sentAt ?? null,
      });
    for (const [subject, { state, alert }] of problems) {
      const row = rows.get(subject);
      // The problem returned before its recovery was reported, so no alert is needed.
      if (row?.body != null && row.state === WELL && row.reported === state) {
        await store.saveAlert({ ...row, state, body: null });
      } else if (row === undefined || isMore(state, row.state))
        await save(row, subject, state, alert);
      else if (state !== row.state) await store.saveAlert({ ...row, state });
    }
    for (const [subject, row] of rows) {
      if (problems.has(subject)) continue;
      if (row.state !== WELL) {
        const recovery = row.reported === WELL ? undefined : await situation.readRecovery(subject);
        if (recovery !== undefined) await save(row, subject, WELL, recovery);
        else if (situation.isOver(subject)) {
          await store.saveAlert({ ...row, state: WELL, reported: WELL, body: null });
        }
      } else if (row.body === null && (row.sentAt ?? 0) + gapMs < now) {
        await store.deleteAlert(row);
      }
    }
    return now;
  };

  const send = async (row: AlertRow & { body: string }, now: number): Promise<void> => {
    const { error } = await sender.send({
      url,
      id: row.id,
      body: Buffer.from(row.body),
      headers: {},
      clockSkewMs: now - Date.now(),
      queueSize: 0,
      recordsCharged: 0,
    });
    const wait = error === null ? undefined : schedule[row.attempts];
    if (error !== null && wait === undefined) {
      log.error('alert dropped', {
        alert: row.subject,
        webhookId: row.id,
        reason: error,
      });
    }
    await store.saveAlert(
      wait === undefined
        ? { ...row, body: null, ...(error === null && { reported: row.state, sentAt: now }) }
        : { ...row, attempts: row.attempts + 1, runAt: now + wait },
    );
  };

  const run = async (): Promise<void> => {
    while (!stopping) {
      try {
        const now = await look();
        for (const row of await store.listAlerts(receiver)) {
          const { body } = row;
          if (stopping) return;
          if (body === null || row.runAt > now) continue;
          await send({ ...row, body }, now);
          await new Promise((resolve) => setTimeout(resolve, PACE_MS));
        }
      } catch (error) {
        log.error('failed to send alerts, retrying', { error: describeError(error) });
      }
      await waker.sleep(lookMs);
    }
  };

  const running = run();
  return {
    report: () => null,
    async stop() {
      stopping = true;
      waker.wake();
      await running;
      await sender.close();
    },
  };
}
