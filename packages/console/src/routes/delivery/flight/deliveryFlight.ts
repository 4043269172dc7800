/** Builds the flight of a delivery from its stored times. */
import { isWaiting } from '@sluice/kit/contract';
import type { DeliveryAttempt, DeliveryDetail } from '@sluice/kit/sluice';
import { formatDue, formatLength, formatQuantity } from '../../../ui/text/format.ts';
import { DELIVERY_CONDITIONS, PHASE_CONDITIONS } from '../../../words/condition.ts';
import { listParts } from '../attempts/attemptParts.ts';
import { responseWord } from '../attempts/responseWord.ts';
import {
  gapPart,
  type Flight,
  type FlightLeg,
  type FlightMark,
  type FlightPart,
} from './flight.ts';

/** Number of attempts that are drawn; earlier ones are one leg. */
const DRAWN_ATTEMPTS = 8;
/** Writing the outcome of an attempt takes less. A later change was, for example, a stop. */
const WRITE_MS = 1_000;

const PART_NAMES = {
  dns: 'DNS',
  connect: 'connect',
  tls: 'TLS',
  wait: 'wait',
  body: 'body',
} as const;

export interface FlightMoment {
  /** Current time in Unix milliseconds. */
  now: number;
  /** Time of the next attempt in Unix milliseconds; null if none is due. */
  dueAt: number | null;
  /** Whether the delivery waits until its stream is resumed. */
  isPaused: boolean;
  /** Number of the attempt that is emphasized; undefined for none. */
  pickedAttempt?: number | undefined;
}

export function deliveryFlight(
  delivery: DeliveryDetail,
  { now, dueAt, isPaused, pickedAttempt }: FlightMoment,
): Flight {
  const { blockTime, committedAt, createdAt, phase, state, attemptList, pair } = delivery;
  const legs: FlightLeg[] = [];
  // The timestamp of a block may be ahead of the service's clock.
  let at = Math.min(blockTime, committedAt);
  const addGap = (label: string, name: string, until: number, look: 'gap' | 'ahead' = 'gap') => {
    // The clocks of the processes and the ledger differ, so a time may be before the previous one.
    if (until <= at) return;
    legs.push({ label, parts: [gapPart(name, at, until, look)], isPicked: false });
    at = until;
  };
  const addAttempt = (attempt: DeliveryAttempt): void => {
    const parts = attemptParts(attempt, at);
    legs.push({
      label: String(responseWord(attempt)),
      parts,
      isPicked: attempt.number === pickedAttempt,
    });
    at = parts.at(-1)!.to!;
  };

  addGap('commit', 'Block to commit', committedAt);
  if (phase === 'removed') addGap('on chain', 'Until the block was removed', createdAt);
  else addGap('confirm', 'Until the block was confirmed', createdAt);
  const drawn = attemptList.slice(-DRAWN_ATTEMPTS);
  const hidden = attemptList.slice(0, -DRAWN_ATTEMPTS);
  if (hidden.length > 0) {
    addGap('queue', 'Queue', hidden[0]!.startedAt);
    addGap(
      `${hidden.length} earlier`,
      formatQuantity(hidden.length, 'earlier attempt'),
      drawn[0]!.startedAt,
    );
  }
  for (const attempt of drawn) {
    const { number, startedAt } = attempt;
    if (number === 1) addGap('queue', 'Queue', startedAt);
    else if (attemptList.find((each) => each.number === number - 1)?.error === null) {
      addGap('replay', 'Until the replay', startedAt);
    } else addGap('wait', `Before attempt ${number}`, startedAt);
    addAttempt(attempt);
  }

  const isFirst = attemptList.length === 0;
  const isOpen = isWaiting(state) || ['enriching', 'held', 'leased'].includes(state);
  // The browser's clock may be behind the service's.
  const reached = Math.max(now, at);
  if (isOpen) {
    const { label, name } = openLeg(delivery, isPaused);
    addGap(label, name, reached);
    if (dueAt !== null && !isPaused && isWaiting(state)) {
      addGap(formatDue(dueAt, reached), `Until attempt ${attemptList.length + 1}`, dueAt, 'ahead');
    }
  } else if (state !== 'succeeded' && delivery.updatedAt - at > WRITE_MS) {
    addGap('wait', isFirst ? 'Queue' : 'Waited', delivery.updatedAt);
  }

  // A delivery that was canceled in the moment of its commit still has a part.
  if (legs.length === 0) {
    legs.push({ label: 'queue', parts: [gapPart('Queue', at, at)], isPicked: false });
  }

  const end = DELIVERY_CONDITIONS[state];
  const endedAt = isOpen ? reached : at;
  const marks: FlightMark[] = [{ at: endedAt, condition: end, twin: null }];
  if (pair !== null) {
    addGap(
      pair.phase === 'removed' ? 'removal' : 'confirm',
      `Until the ${pair.phase === 'removed' ? 'removal webhook' : `${pair.phase} delivery`}`,
      pair.createdAt,
    );
    marks.push({ at: pair.createdAt, condition: PHASE_CONDITIONS[pair.phase], twin: pair });
  }
  return {
    startedAt: blockTime,
    legs,
    marks,
    now: isOpen ? reached : null,
    end,
    summary: isOpen
      ? describeOpen(delivery, { now: reached, dueAt, isPaused })
      : `${formatLength(Math.max(0, endedAt - blockTime))} after the block`,
  };
}

/** Names the time from the last stored one until now. */
function openLeg(
  { state, attemptList }: DeliveryDetail,
  isPaused: boolean,
): { label: string; name: string } {
  const made = attemptList.length;
  if (isPaused) return { label: 'paused', name: 'Paused' };
  if (state === 'enriching') return { label: 'enriching', name: 'Enrichment' };
  if (state === 'held') return { label: 'held', name: 'Held' };
  if (state === 'leased') {
    const before = made === 0 ? 'Queue' : 'Wait';
    return { label: 'sending', name: `${before} and attempt ${made + 1}` };
  }
  return made === 0 ? { label: 'queue', name: 'Queue' } : { label: 'wait', name: 'Waited so far' };
}

function attemptParts(attempt: DeliveryAttempt, notBefore: number): FlightPart[] {
  const { number, startedAt, durationMs, error } = attempt;
  const isFailed = error !== null;
  const measured = listParts(attempt);
  const started = Math.max(startedAt, notBefore);
  const ended = Math.max(
    started + durationMs,
    started + measured.reduce((sum, { ms }) => sum + ms, 0),
  );
  const note = [responseWord(attempt), ...(isFailed ? [error] : [])].join(': ');
  if (measured.length === 0) {
    const name = `Attempt ${number}`;
    return [{ look: 'send', name, from: started, to: ended, ms: durationMs, note, isFailed }];
  }
  let at = started;
  return measured.map(({ name, ms, isSetUp }, index): FlightPart => {
    const isLast = index === measured.length - 1;
    const from = at;
    // The parts are rounded, so their sum is up to a few milliseconds less.
    at = isLast ? ended : at + ms;
    return {
      look: isSetUp ? 'setup' : name === 'body' ? 'receive' : 'send',
      name: `Attempt ${number}: ${PART_NAMES[name]}`,
      from,
      to: at,
      ms,
      note: isLast ? note : '',
      isFailed,
    };
  });
}

function describeOpen(
  { state, attempts }: DeliveryDetail,
  { now, dueAt, isPaused }: Omit<FlightMoment, 'pickedAttempt'>,
): string {
  const made = attempts === 0 ? '' : formatQuantity(attempts, 'attempt');
  const next = isPaused
    ? 'until the stream is resumed'
    : isWaiting(state) && dueAt !== null
      ? `next ${formatDue(dueAt, now)}`
      : '';
  return [made, next].filter(Boolean).join(', ');
}

/** Returns the number of the attempt that sent a request; undefined without attempts. */
export const attemptOf = (
  { attemptList }: Pick<DeliveryDetail, 'attemptList'>,
  receivedAt: number,
): number | undefined =>
  attemptList.toSorted(
    (a, b) => Math.abs(a.startedAt - receivedAt) - Math.abs(b.startedAt - receivedAt),
  )[0]?.number;
