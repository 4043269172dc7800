/** The flight of a webhook: what happened to it, from its block to the last response. */
import type { DeliverySummary } from '@sluice/kit/sluice';
import type { Condition } from '../../../ui/status.tsx';
import { formatClock, formatLength } from '../../../ui/text/format.ts';

/** A part of the flight. It starts where the previous part ends. */
export type FlightPart = {
  /** Name in the table: `Attempt 2: DNS`. */
  name: string;
  /** Outcome, such as a status; empty if there is none. */
  note: string;
} & (TimedPart | CheckPart);

interface TimedPart {
  /**
   * `gap`: nothing is sent. `ahead`: the same, in the future. `setup`, `send` and `receive`: before,
   * during and after the wait for the response.
   */
  look: 'gap' | 'ahead' | 'setup' | 'send' | 'receive';
  /** Unix milliseconds, like `to`. */
  from: number;
  to: number;
  /** Measured duration in milliseconds. */
  ms: number;
  isFailed: boolean;
}

/** A check, which has no stored time. */
interface CheckPart {
  look: 'check';
  from: null;
  to: null;
  condition: Condition;
  /** Whether it decided the outcome, so that no check followed. */
  isLast: boolean;
}

/** Parts with a common label in the drawing, such as those of an attempt. */
export interface FlightLeg {
  label: string;
  parts: readonly FlightPart[];
  /** Whether it is emphasized. */
  isPicked: boolean;
}

/** A moment of the flight. */
export interface FlightMark {
  /** Unix milliseconds. */
  at: number;
  condition: Condition;
  /** The delivery that the mark links to; null if it is part of this flight. */
  twin: DeliverySummary | null;
}

export interface Flight {
  /** The block's own time, in Unix milliseconds; null if it is unknown. */
  startedAt: number | null;
  legs: readonly FlightLeg[];
  marks: readonly FlightMark[];
  /** The current time if the flight goes on, in Unix milliseconds; otherwise null. */
  now: number | null;
  end: Condition;
  /** Describes the end, or what comes next. */
  summary: string;
}

/** Returns the duration of a leg in milliseconds; null if it has no times. */
export function lengthOf({ parts }: FlightLeg): number | null {
  const [first, last] = [parts[0], parts.at(-1)];
  return first === undefined || first.from === null || last === undefined || last.to === null
    ? null
    : last.to - first.from;
}

/** Describes a part in one line: `Attempt 2: DNS, 3 ms, at 10:44:05.120`. */
export function describePart(part: FlightPart): string {
  const { name, note } = part;
  const times =
    part.look === 'check' ? [] : [formatLength(part.ms), `at ${formatClock(part.from)}`];
  return [name, ...times, ...(note === '' ? [] : [note])].join(', ');
}

/** Returns the part between two times in which nothing is sent. */
export const gapPart = (
  name: string,
  from: number,
  to: number,
  look: 'gap' | 'ahead' = 'gap',
): FlightPart => ({ look, name, from, to, ms: to - from, note: '', isFailed: false });
