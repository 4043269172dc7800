/**
 * Takes due deliveries from the ledger, sends them, and writes back how each attempt ended. The
 * delivery row is the job: there is no second queue to lose. Attempts under way are bounded
 * together and per stream, so that one slow receiver holds nobody else back; one that fails is
 * asked less and less often (`breaker.ts`), and its stream says so.
 */
import { createWaker } from '../waker.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DeliverySummary, isBrief } from '@sluice/kit/contract';
import type { AttemptOutcome, ClaimedDelivery, Store } from '../store/store.ts';
import { createBatchWriter } from '../store/batchWriter.ts';
import { hideSecrets } from '../hideSecrets.ts';
import { type Log, describeError } from '../observe.ts';
import { NO_TRACING, type Tracing } from '../tracing.ts';
import { createCertificates } from './certificates.ts';
import { type Breaker, type BreakerState, createBreaker } from './breaker.ts';
import type { HostPace } from './hostPace.ts';
import { type Isolation, SenderDied } from './isolation.ts';
import type { LocalFailure } from './localFailure.ts';
import { nextWaitMs } from './schedule.ts';
import type { SendResult, Sender, Sending } from './send.ts';
import { createSparing } from './sparing.ts';
import { createSuspects } from './suspects.ts';

export interface Deliver {
  start(): Promise<void>;
  /** Deliveries were created, revived or cancelled: count them, and look for due ones now. */
  notice(deliveries: readonly DeliverySummary[]): void;
  /** Attempts under way, or claimed and about to begin. */
  inFlight(): number;
  /** Streams whose receivers fail or ask for patience, by what that means for them now. */
  breakers(): Record<BreakerState, number>;
  /** Takes nothing more and waits for what is under way, at most `drainMs`. */
  stop(drainMs: number): Promise<void>;
}

/** Longer than any attempt, and extended while the process lives: one runs out when its process is gone. */
const LEASE_MS = 40_000;
const EXTEND_MS = LEASE_MS / 6;
/** A claim that took longer was made by a process that stalled: what it leased may be another's by now. */
const STALL_MS = LEASE_MS / 4;
/** So many that the ledger writes hundreds at a time: what a write costs besides is shared by them. */
const IN_FLIGHT = 2048;
const IN_FLIGHT_PER_STREAM = 64;
/**
 * Begun at each turn of the event loop: answers come in between, and the next ones go over the same
 * connections. Hundreds begun at once would each want one of their own, and outlive two collections of
 * young objects.
 */
const BEGUN_AT_ONCE = 8;
/** More is claimed once no more than these are left to begin, so that nobody waits for the ledger. */
const CLAIM_AHEAD = 512;
/** Outcomes that are written at once while more attempts begin. */
const GATHERED = 512;
/** Of all bodies under way together, so that large webhooks do not fill the memory. */
const BYTES_IN_FLIGHT = 64 * 1024 * 1024;
const GONE = 410;
const THROTTLED = 429;
/** A wake-up may be lost; a retry becomes due without one. */
const POLL_MS = 250;
const SWEEP_MS = 3_000;
/** How old `x-queue-size` may be where other processes work on the same ledger. */
const RECOUNT_MS = 10_000;
const STORE_RETRY_MS = 1_000;
/** Between tries of a delivery that this process itself could not send. */
const LOCAL_RETRY_MS = 1_000;

export function createDeliver({
  store,
  sender,
  isolation,
  log,
  onChange,
  onLostLeases,
  onLostOutcomes,
  onLocalFailure,
  openSecrets,
  tracing = NO_TRACING,
  schedule,
  fastRetryMs,
  hostPace,
}: {
  store: Store;
  sender: Sender;
  /** For deliveries that the process may have died of. */
  isolation: Isolation;
  log: Log;
  onChange(deliveries: DeliverySummary[]): void;
  onLostLeases(count: number): void;
  /** Attempts that were made under a lease that had run out: others may have made them again. */
  onLostOutcomes(count: number): void;
  /** An attempt failed in this process and not at its receiver. */
  onLocalFailure(cause: LocalFailure): void;
  /** The secrets of its stream that sign at the time it was claimed. */
  openSecrets(delivery: ClaimedDelivery): string[];
  tracing?: Tracing | undefined;
  /** Waits between attempts in milliseconds. */
  schedule: readonly number[];
  /**
   * Before the schedule, one retry so soon, of a first attempt that found no receiver or one that
   * failed with a 5xx: a restart is over by then. Undefined for none.
   */
  fastRetryMs?: number | undefined;
  /** Shared with whatever else sends webhooks in this process. */
  hostPace: HostPace;
}): Deliver {
  const inFlight: Record<string, number> = {};
  /** Of streams whose receivers fail, or did a moment ago. */
  const breakers = new Map<string, Breaker>();
  /** Deliveries not finished yet, by stream: what `x-queue-size` tells the receiver. */
  const queued = new Map<string, number>();
  const count = (streamId: string, change: number): void => {
    const n = (queued.get(streamId) ?? 0) + change;
    if (n > 0) queued.set(streamId, n);
    else queued.delete(streamId);
  };
  const certificates = createCertificates({ store, log });
  const sparing = createSparing({ store, log, onHastened: () => waker.wake() });
  let total = 0;
  let bytesInFlight = 0;
  /** Schedules and signatures go by the ledger's clock, whatever this machine's says. */
  let clockSkewMs = 0;
  /** Claimed, and not begun yet; and when they were asked for. */
  const waiting: { delivery: ClaimedDelivery; asked: number }[] = [];
  let stopping = false;
  /** The time to drain is over: what is not written now is found again by its lease. */
  let abandoned = false;
  const waker = createWaker();
  let claiming: Promise<void> | undefined;
  let beginning: Promise<void> | undefined;
  /** Leases of ours by delivery, until what came of it is recorded. */
  const leases = new Map<string, string>();
  let sweeper: NodeJS.Timeout | undefined;
  let extender: NodeJS.Timeout | undefined;
  let recounter: NodeJS.Timeout | undefined;
  let forget = (): void => {};
  /** Of a stop: all that was under way has ended, or its time is over. */
  const idle = Promise.withResolvers<void>();

  /** From here on it is under way. */
  const enter = ({ id, leaseToken, streamId, bodyBytes }: ClaimedDelivery): void => {
    leases.set(id, leaseToken);
    inFlight[streamId] = (inFlight[streamId] ?? 0) + 1;
    total++;
    bytesInFlight += bodyBytes;
  };

  /** It is under way no more. */
  const leave = ({ streamId, bodyBytes }: ClaimedDelivery): void => {
    const left = (inFlight[streamId] ?? 1) - 1;
    if (left === 0) delete inFlight[streamId];
    else inFlight[streamId] = left;
    total--;
    bytesInFlight -= bodyBytes;
  };

  const restIfDone = (): void => {
    if (stopping && total === 0) void outcomes.flush().then(idle.resolve);
  };

  /** Its lease is another's by now. */
  const giveUp = (delivery: ClaimedDelivery): void => {
    leave(delivery);
    leases.delete(delivery.id);
    restIfDone();
  };

  /** After a stall: those that nobody took over meanwhile, their leases extended. */
  const stillOurs = async (claimed: readonly ClaimedDelivery[]): Promise<ClaimedDelivery[]> => {
    const held = new Set(await store.extendLeases(claimed, LEASE_MS).catch(() => []));
    return claimed.filter(({ id }) => held.has(id));
  };

  /** Waits before another try of what this process could not send; false when it is not ours to send any more. */
  const outlast = async (delivery: ClaimedDelivery): Promise<boolean> => {
    for (;;) {
      await new Promise((turn) => setTimeout(turn, LOCAL_RETRY_MS));
      if (stopping) return false;
      const held = await store.extendLeases([delivery], LEASE_MS).catch(() => undefined);
      if (held !== undefined) return held.length > 0;
    }
  };

  const attempt = async (
    delivery: ClaimedDelivery,
    send: (sending: Sending) => Promise<SendResult> = sender.send,
    askedAt = performance.now(),
  ): Promise<void> => {
    const began = performance.now();
    let senderDied = false;
    const span = tracing.start('delivery.attempt', {
      'delivery.id': delivery.id,
      'stream.id': delivery.streamId,
      phase: delivery.phase,
      attempt: delivery.attempts + 1,
    });
    const hostWaitMs = hostPace.take(delivery.streamId, delivery.webhookUrl);
    const waitMs = Math.max(delivery.waitMs, hostWaitMs);
    if (waitMs > 0) {
      await new Promise((turn) => setTimeout(turn, waitMs));
      const isLate = performance.now() - began > waitMs + STALL_MS;
      if (isLate && (await stillOurs([delivery])).length === 0) {
        span.end('its lease ran out before it was sent');
        giveUp(delivery);
        return;
      }
    }
    // What it is sent with is put together in there, so that a secret that cannot be opened fails it.
    const makeAttempt = async (): Promise<SendResult> =>
      send({
        url: delivery.webhookUrl,
        id: delivery.id,
        body: delivery.body,
        headers: delivery.headers,
        traceparent: span.traceparent,
        secrets: openSecrets(delivery),
        clockSkewMs,
        part: delivery.parts > 1 ? `${delivery.part + 1}/${delivery.parts}` : undefined,
        queueSize: queued.get(delivery.streamId) ?? 0,
        recordsCharged: delivery.phase === 'confirmed' ? delivery.records : 0,
      });
    const toFailed = (error: unknown): SendResult => {
      senderDied = error instanceof SenderDied;
      // A sender does not throw otherwise; should it, the attempt has failed and the others go on.
      const durationMs = Math.round(performance.now() - began);
      return {
        startedAt: Date.now() - durationMs,
        durationMs,
        status: null,
        error: describeError(error) + (senderDied ? ': replay it once the cause is found' : ''),
        responseBody: '',
        transport: null,
      };
    };
    let result = await makeAttempt().catch(toFailed);
    if (result.localFailure !== undefined) onLocalFailure(result.localFailure.cause);
    while (result.localFailure?.isSent === false) {
      // The receiver knows nothing of it, so that was no attempt.
      if (!(await outlast(delivery))) {
        span.end(result.error ?? undefined);
        giveUp(delivery);
        return;
      }
      result = await makeAttempt().catch(toFailed);
      if (result.localFailure !== undefined) onLocalFailure(result.localFailure.cause);
    }
    if (result.status !== null) span.set({ 'http.response.status_code': result.status });
    span.end(result.error ?? undefined);
    const isGone = result.status === GONE;
    const isFastRetry =
      result.error !== null &&
      isBrief(result.status) &&
      delivery.attempts === 0 &&
      fastRetryMs !== undefined;
    const ofSchedule = delivery.attempts + 1 - (delivery.fastRetried ? 1 : 0);
    // A receiver that is gone, or only asked whether it is back, does not use up the schedule.
    const wait = isFastRetry
      ? nextWaitMs([fastRetryMs], 1)
      : (nextWaitMs(schedule, ofSchedule) ??
        (isGone || delivery.isProbe ? schedule.at(-1) : undefined));
    outcomes.add({
      id: delivery.id,
      leaseToken: delivery.leaseToken,
      webhookUrl: hideSecrets(delivery.webhookUrl),
      startedAt: result.startedAt,
      durationMs: result.durationMs,
      status: result.status,
      error: result.error,
      responseBody: result.responseBody,
      transport: result.transport,
      result: senderDied
        ? 'quarantined'
        : result.error === null
          ? 'succeeded'
          : wait === undefined
            ? 'failed'
            : 'retry',
      // What the receiver asks for may lengthen a wait, never shorten it.
      retryInMs: Math.max(wait ?? 0, result.retryAfterMs ?? 0),
      isFastRetry,
    });
    leave(delivery);
    void outcomes.flush();
    restIfDone();
    certificates.note(delivery, result.transport?.certificate ?? null, performance.now());
    if (senderDied)
      log.error('delivery quarantined', {
        delivery: delivery.id,
        stream: delivery.streamId,
        reason: result.error,
      });
    else if (result.localFailure === undefined) await judge(delivery, result, askedAt);
  };

  /**
   * What an attempt says of its receiver: it may end, or begin, the stream's `error`. What was claimed
   * before the receiver was found failing is no probe of it, whenever it began.
   */
  const judge = async (
    delivery: ClaimedDelivery,
    result: SendResult,
    startedAt: number,
  ): Promise<void> => {
    const { id, streamId } = delivery;
    const succeeded = result.error === null;
    const known = breakers.get(streamId);
    // All is well, as it nearly always is: there is nothing to remember.
    if (succeeded && known === undefined && !delivery.isProbe) return;
    const breaker = known ?? createBreaker();
    const now = performance.now();
    const { exhausted } = breaker.note(
      {
        succeeded,
        throttledMs: result.status === THROTTLED ? (result.retryAfterMs ?? 0) : undefined,
        startedAt,
      },
      now,
    );
    if (breaker.isIdle(now)) breakers.delete(streamId);
    else breakers.set(streamId, breaker);
    void sparing.note(streamId, breakers.get(streamId));
    try {
      if (succeeded && delivery.isProbe) {
        if ((await store.recoverStream(streamId)) === undefined) return;
        log.info('stream recovered', { stream: streamId, delivery: id });
      } else if (!succeeded && (exhausted || result.status === GONE)) {
        const message =
          result.status === GONE
            ? 'The receiver answered 410 Gone: correct its URL, then set the stream active'
            : `Success rate below 70; the last attempt failed: ${result.error}`;
        if ((await store.failStream(streamId, message)) === undefined) return;
        log.warn('stream in error', { stream: streamId, delivery: id, reason: message });
        // From here on the stream's own probes ask.
        breakers.delete(streamId);
        void sparing.note(streamId, undefined);
      } else return;
      waker.wake();
    } catch (error) {
      log.error('cannot change the state of a stream', {
        stream: streamId,
        delivery: id,
        error: String(error),
      });
    }
  };

  /** Room that claims must leave alone: what is under way, and all of a receiver that fails. */
  const readTaken = (): Record<string, number> => {
    const taken = { ...inFlight };
    const now = performance.now();
    for (const [streamId, breaker] of breakers) {
      const underWay = inFlight[streamId] ?? 0;
      const room = breaker.room(underWay, now);
      if (room < IN_FLIGHT_PER_STREAM - underWay) taken[streamId] = IN_FLIGHT_PER_STREAM - room;
    }
    for (const streamId of hostPace.waiting()) taken[streamId] = IN_FLIGHT_PER_STREAM;
    return taken;
  };

  const complete = async (batch: readonly AttemptOutcome[]): Promise<void> => {
    try {
      const changed = await store.completeDeliveries(batch);
      for (const { id, leaseToken } of batch) {
        if (leases.get(id) === leaseToken) leases.delete(id);
      }
      for (const { streamId, state } of changed) if (state !== 'pending') count(streamId, -1);
      if (changed.length < batch.length) onLostOutcomes(batch.length - changed.length);
      onChange(changed);
    } catch (error) {
      if (!abandoned) throw error;
    } finally {
      waker.wake();
    }
  };

  const outcomes = createBatchWriter<AttemptOutcome>({
    write: complete,
    // While more begin, outcomes gather: what a write costs besides is shared by many.
    isDue: (size) => waiting.length === 0 || size >= GATHERED,
    toRefused(outcome, error) {
      if (outcome.result === 'quarantined') {
        // Its lease runs out, which counts against it: a delivery that loses ten is set aside for good.
        leases.delete(outcome.id);
        log.error('cannot record an attempt', { delivery: outcome.id, error: String(error) });
        return undefined;
      }
      const refused = toRefused(outcome, error);
      log.error('delivery quarantined', { delivery: outcome.id, reason: refused.error });
      return refused;
    },
    // Nothing is lost: the attempts are written when the store answers, or their leases run out.
    onDelay: (error, waitingRows) =>
      log.error('cannot record attempts, trying again', {
        count: waitingRows,
        error: String(error),
      }),
  });

  /** Begins what is claimed, a few at each turn of the event loop. */
  const begin = async (): Promise<void> => {
    while (waiting.length > 0 && !abandoned) {
      const hadMany = waiting.length > CLAIM_AHEAD;
      const few = waiting.splice(0, BEGUN_AT_ONCE);
      const isLate = performance.now() - few[0]!.asked > STALL_MS;
      const deliveries = few.map(({ delivery }) => delivery);
      const ours = new Set(isLate ? await stillOurs(deliveries) : deliveries);
      for (const { delivery, asked } of few) {
        if (ours.has(delivery)) void attempt(delivery, sender.send, asked);
        else giveUp(delivery);
      }
      if (hadMany && waiting.length <= CLAIM_AHEAD) waker.wake();
      await nextTurn();
    }
    beginning = undefined;
    void outcomes.flush();
  };

  const claim = async (): Promise<void> => {
    while (!stopping) {
      const hasRoom = waiting.length <= CLAIM_AHEAD && bytesInFlight < BYTES_IN_FLIGHT;
      const room = hasRoom ? IN_FLIGHT - total : 0;
      const asked = performance.now();
      let claimed: ClaimedDelivery[] = [];
      if (room > 0) {
        try {
          claimed = await store.claimDeliveries({
            limit: room,
            maxBytes: BYTES_IN_FLIGHT - bytesInFlight,
            perStream: IN_FLIGHT_PER_STREAM,
            taken: readTaken(),
            leaseMs: LEASE_MS,
          });
        } catch (error) {
          log.error('cannot claim deliveries, trying again', { error: String(error) });
          await new Promise((resolve) => setTimeout(resolve, STORE_RETRY_MS));
        }
      }
      const [first] = claimed;
      if (first !== undefined) clockSkewMs = first.claimedAt - Date.now();
      for (const delivery of claimed) {
        enter(delivery);
        waiting.push({ delivery, asked });
      }
      if (claimed.length > 0) beginning ??= begin();
      if (claimed.length === 0) await waker.sleep(POLL_MS);
    }
  };

  const suspects = createSuspects({
    store,
    isolation,
    log,
    leaseMs: LEASE_MS,
    attempt(delivery, send) {
      enter(delivery);
      return attempt(delivery, send);
    },
    failingStreams: () =>
      Object.entries(readTaken())
        .filter(([, taken]) => taken >= IN_FLIGHT_PER_STREAM)
        .map(([streamId]) => streamId),
  });

  /** Others make and send deliveries too: what they did is found here. */
  const recount = async (): Promise<void> => {
    const stats = await store.readStreamStats();
    queued.clear();
    for (const { streamId, queue } of stats) count(streamId, queue);
    await certificates.learn();
  };

  return {
    async start() {
      await recount();
      await sparing.start();
      forget = store.notices.on('deliveries', waker.wake);
      claiming = claim();
      suspects.start();
      // One process owns a SQLite ledger: its leases end with it, and no clock ends them sooner.
      if (store.engine === 'sqlite') return;
      extender = setInterval(() => {
        store
          .extendLeases(
            [...leases].map(([id, leaseToken]) => ({ id, leaseToken })),
            LEASE_MS,
          )
          .catch((error: unknown) => log.error('cannot extend leases', { error: String(error) }));
      }, EXTEND_MS);
      recounter = setInterval(() => void recount().catch(() => {}), RECOUNT_MS);
      sweeper = setInterval(() => {
        store.releaseLeases('expired').then(
          ({ released, suspects: lostTwice, quarantined }) => {
            if (lostTwice > 0) suspects.look();
            onLostLeases(released + quarantined.length);
            if (quarantined.length > 0) {
              for (const { id, streamId } of quarantined) {
                count(streamId, -1);
                log.error('delivery quarantined', { delivery: id, stream: streamId });
              }
              onChange(quarantined);
            }
            if (released > 0) log.warn('leases ran out', { count: released });
            if (released > 0) waker.wake();
          },
          (error: unknown) => log.error('cannot sweep leases', { error: String(error) }),
        );
      }, SWEEP_MS);
    },
    notice(deliveries) {
      for (const { streamId, state, createdAt, updatedAt } of deliveries) {
        // What was set aside when it was made never waited.
        if (state === 'quarantined' && updatedAt === createdAt) continue;
        count(streamId, state === 'enriching' || state === 'pending' ? 1 : -1);
      }
      waker.wake();
    },
    inFlight: () => total,
    breakers() {
      const counts: Record<BreakerState, number> = { open: 0, 'half-open': 0, held: 0 };
      for (const breaker of breakers.values()) {
        const state = breaker.state(performance.now());
        if (state !== undefined) counts[state]++;
      }
      return counts;
    },
    async stop(drainMs) {
      stopping = true;
      forget();
      clearInterval(recounter);
      clearInterval(sweeper);
      waker.wake();
      const timer = setTimeout(idle.resolve, drainMs);
      await Promise.race([Promise.all([claiming, suspects.stop(), sparing.stop()]), idle.promise]);
      restIfDone();
      await idle.promise;
      clearTimeout(timer);
      abandoned = true;
      clearInterval(extender);
      await Promise.all([sender.close(), isolation.close()]);
    },
  };
}

/** What is recorded of an attempt whose outcome the ledger cannot hold: nothing that came from outside. */
const toRefused = (outcome: AttemptOutcome, error: unknown): AttemptOutcome => ({
  id: outcome.id,
  leaseToken: outcome.leaseToken,
  webhookUrl: outcome.webhookUrl,
  startedAt: outcome.startedAt,
  durationMs: 0,
  status: null,
  error:
    `the receiver ${outcome.status === null ? 'did not answer' : `answered ${outcome.status}`}, and the ` +
    `ledger refuses to record it: ${describeError(error)}; replay it once the cause is found`,
  responseBody: '',
  transport: null,
  result: 'quarantined',
  retryInMs: 0,
  isFastRetry: false,
});
