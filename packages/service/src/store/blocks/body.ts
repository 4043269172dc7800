import type { DeliveryPhase } from '@sluice/kit/contract';

/**
 * A stored body: everything between `"confirmed":` and the value of `retries`, and everything after
 * it. A body without `confirmed`, as on Aptos, is stored from its opening brace.
 */
export interface StoredBody {
  bodyHead: string;
  bodyTail: string;
}

/**
 * Splits the JSON of a webhook whose first key is `confirmed`: `head` has the other keys before
 * `retries`, `tail` those after it. The parts are stored once per match; the two values that differ
 * between deliveries and attempts are added for each attempt.
 */
export function splitBody(head: object, tail: object): StoredBody {
  return {
    bodyHead: `,${JSON.stringify(head).slice(1, -1)},"retries":`,
    bodyTail: toBodyTail(tail),
  };
}

/** Same for a webhook without `confirmed`, whose matches are final when delivered. */
export function splitFinalBody(head: object, tail: object): StoredBody {
  return {
    bodyHead: `${JSON.stringify(head).slice(0, -1)},"retries":`,
    bodyTail: toBodyTail(tail),
  };
}

/** Encodes the end of a body alone, for one that is completed later. */
export const toBodyTail = (tail: object): string => `,${JSON.stringify(tail).slice(1)}`;

/** Reverses {@link toBodyTail}. */
export const fromBodyTail = (bodyTail: string): unknown => JSON.parse(`{${bodyTail.slice(1)}`);

/** The longest possible start of a body, plus a number of retries of any length. */
export const ENVELOPE_BYTES = '{"confirmed":false,"removed":true'.length + 10;

/** The largest size of the body in any phase and attempt, in bytes. */
export const bodyBytes = ({ bodyHead, bodyTail }: StoredBody): number =>
  Buffer.byteLength(bodyHead) + Buffer.byteLength(bodyTail) + ENVELOPE_BYTES;

/**
 * Builds the exact text that one attempt sends and signs; parsing and stringifying it again does
 * not change it.
 */
export function joinBody({
  bodyHead,
  bodyTail,
  phase,
  retries,
}: StoredBody & { phase: DeliveryPhase; retries: number }): string {
  if (bodyHead.startsWith('{')) return `${bodyHead}${retries}${bodyTail}`;
  const beginning =
    phase === 'removed'
      ? '{"confirmed":false,"removed":true'
      : `{"confirmed":${phase === 'confirmed'}`;
  return `${beginning}${bodyHead}${retries}${bodyTail}`;
}
