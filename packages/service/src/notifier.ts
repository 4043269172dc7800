/**
 * Tells the operator by webhook what is in trouble, and when it is over. It goes by what is so in the
 * ledger, not by what happened: a crash loses nothing, and what comes and goes between two looks, or
 * before it was told, is not told. Of one thing there is a notice every five minutes at most.
 */
import { createWaker } from './waker.ts';
import { randomUUID } from 'node:crypto';
import type { OperatorNotice } from '@sluice/kit/contract';
import type { Sender } from './deliver/send.ts';
import type { Term } from './duty.ts';
import { type Log, describeError } from './observe.ts';
import type { ChainReport, OperatorNoticeRow, Store } from './store/store.ts';

type Told = OperatorNotice extends infer Notice
  ? Notice extends OperatorNotice
    ? Pick<Notice, 'type' | 'data'>
    : never
  : never;

const MINUTE_MS = 60_000;
const LOOK_MS = 2_000;
/** Of one thing, between two notices. */
const GAP_MS = 5 * MINUTE_MS;
/** A node that is away for a moment is no halt. */
const HALT_MS = 30_000;
/** Between two requests: many streams may share one receiver that fails. */
const PACE_MS = 200;
/** Waits after failure 1, 2, …; then a notice is given up. */
const SCHEDULE_MS: readonly number[] = [
  5_000,
  30_000,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  ...Array<number>(8).fill(60 * MINUTE_MS),
];
const DISK = 'disk';
/** The state of what is well: it needs no row once that was told. */
const WELL = '';

export interface NotifierOptions {
  url: string;
  store: Store;
  /** For nothing else: it is closed at the stop. */
  sender: Sender;
  chains(): ChainReport[];
  /** That the ledger's disk will be full some day, for people; undefined while it is not. */
  diskFilling(): string | undefined;
  log: Log;
  /** Milliseconds; defaults above. */
  timing?: { lookMs?: number; gapMs?: number; haltMs?: number; scheduleMs?: readonly number[] };
}

export function startNotifier({
  url,
  store,
  sender,
  chains,
  diskFilling,
  log,
  timing,
}: NotifierOptions): Term {
  const { lookMs = LOOK_MS, gapMs = GAP_MS, haltMs = HALT_MS } = timing ?? {};
  const schedule = timing?.scheduleMs ?? SCHEDULE_MS;
  let stopping = false;
  const waker = createWaker();
  /** Since when a chain is down, by a clock that never jumps. */
  const downSince = new Map<string, number>();

  /** By subject, what is to be said of it as it is now; its state tells one trouble from the next. */
  const readTroubles = async (): Promise<{
    now: number;
    troubles: Map<string, { state: string; notice: Told }>;
  }> => {
    const { now, streams, quarantined } = await store.readTroubles();
    const troubles = new Map<string, { state: string; notice: Told }>();
    for (const { id: streamId, tag, status, reason } of streams) {
      const type = status === 'error' ? ('stream.error' as const) : ('stream.terminated' as const);
      const notice = { type, data: { streamId, tag, reason } };
      troubles.set(`stream ${streamId}`, { state: status, notice });
    }
    for (const data of quarantined) {
      const notice = { type: 'delivery.quarantined' as const, data };
      troubles.set(`quarantine ${data.streamId}`, { state: String(data.count), notice });
    }
    for (const { id: chainId, state, message: reason } of chains()) {
      if (state !== 'down') downSince.delete(chainId);
      else if (!downSince.has(chainId)) downSince.set(chainId, performance.now());
      const since = downSince.get(chainId);
      if (since === undefined || performance.now() - since < haltMs) continue;
      const notice = { type: 'chain.halted' as const, data: { chainId, reason } };
      troubles.set(`chain ${chainId}`, { state: 'down', notice });
    }
    const reason = diskFilling();
    if (reason !== undefined) {
      troubles.set(DISK, { state: 'filling', notice: { type: 'disk.filling', data: { reason } } });
    }
    return { now, troubles };
  };

  /** What is said when a trouble is over, or undefined where that says itself. */
  const readRecovery = async (subject: string): Promise<Told | undefined> => {
    if (subject === DISK) return { type: 'disk.recovered', data: {} };
    const [kind, id = ''] = subject.split(' ');
    if (kind === 'stream') {
      const stream = await store.readStream(id);
      return stream?.status === 'active'
        ? { type: 'stream.recovered', data: { streamId: id, tag: stream.tag } }
        : undefined;
    }
    if (kind !== 'chain') return undefined;
    // A chain that starts is not read yet; one that is gone from the settings never is again.
    const state = chains().find((chain) => chain.id === id)?.state;
    return state === 'live' || state === 'catching-up'
      ? { type: 'chain.resumed', data: { chainId: id } }
      : undefined;
  };

  const isMore = (state: string, before: string): boolean =>
    /^\d+$/.test(state) ? Number(state) > Number(before) : state !== before;

  /** Holds what is told against what is so. */
  const look = async (): Promise<number> => {
    const { now, troubles } = await readTroubles();
    const rows = new Map((await store.listOperatorNotices()).map((row) => [row.subject, row]));
    const say = (
      row: OperatorNoticeRow | undefined,
      subject: string,
      state: string,
      notice: Told,
    ) =>
      store.saveOperatorNotice({
        subject,
        state,
        told: row?.told ?? WELL,
        id: randomUUID(),
        body: JSON.stringify({ ...notice, timestamp: new Date(now).toISOString() }),
        attempts: 0,
        runAt: Math.max(now, (row?.sentAt ?? 0) + gapMs),
        sentAt: row?.sentAt ?? null,
      });
    for (const [subject, { state, notice }] of troubles) {
      const row = rows.get(subject);
      // It was over for a moment, and that was not told yet.
      if (row?.body != null && row.state === WELL && row.told === state) {
        await store.saveOperatorNotice({ ...row, state, body: null });
      } else if (row === undefined || isMore(state, row.state))
        await say(row, subject, state, notice);
      else if (state !== row.state) await store.saveOperatorNotice({ ...row, state });
    }
    for (const [subject, row] of rows) {
      if (troubles.has(subject)) continue;
      if (row.state !== WELL) {
        const recovery = row.told === WELL ? undefined : await readRecovery(subject);
        if (recovery !== undefined) await say(row, subject, WELL, recovery);
        else if (await isOver(subject)) {
          await store.saveOperatorNotice({ ...row, state: WELL, told: WELL, body: null });
        }
      } else if (row.body === null && (row.sentAt ?? 0) + gapMs < now) {
        await store.deleteOperatorNotice(subject);
      }
    }
    return now;
  };

  /** A chain that is only starting, or went down a moment ago, is neither well nor told again. */
  const isOver = async (subject: string): Promise<boolean> => {
    const [kind, id] = subject.split(' ');
    const chain = kind === 'chain' ? chains().find((each) => each.id === id) : undefined;
    return chain === undefined || chain.state === 'live' || chain.state === 'catching-up';
  };

  const send = async (row: OperatorNoticeRow & { body: string }, now: number): Promise<void> => {
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
      log.error('notice to the operator given up', {
        notice: row.subject,
        webhookId: row.id,
        reason: error,
      });
    }
    await store.saveOperatorNotice(
      wait === undefined
        ? { ...row, body: null, told: error === null ? row.state : row.told, sentAt: now }
        : { ...row, attempts: row.attempts + 1, runAt: now + wait },
    );
  };

  const run = async (): Promise<void> => {
    while (!stopping) {
      try {
        const now = await look();
        for (const row of await store.listOperatorNotices()) {
          const { body } = row;
          if (stopping) return;
          if (body === null || row.runAt > now) continue;
          await send({ ...row, body }, now);
          await new Promise((resolve) => setTimeout(resolve, PACE_MS));
        }
      } catch (error) {
        log.error('cannot notify the operator, trying again', { error: describeError(error) });
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
