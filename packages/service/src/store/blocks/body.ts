import type { DeliveryPhase } from '@sluice/kit/contract';

/**
 * A stored body. `bodyHead` ends before the value of `retries`, and `bodyTail` starts after it.
 * `bodyHead` starts after the value of `confirmed`; on Aptos, whose bodies do not have `confirmed`,
 * it starts at the opening brace.
 */
export interface StoredBody {
  bodyHead: string;
  bodyTail: string;
}

/**
 * Splits the JSON of a webhook whose first key is `confirmed`: `head` has the other keys before
 * `retries`, `tail` the keys after it. Both are stored once per match; `confirmed` and `retries`
 * are added for each attempt.
 */
export function splitBody(head: object, tail: object): StoredBody {
  return {
    bodyHead: `,${JSON.stringify(head).slice(1, -1)},"retries":`,
    bodyTail: toBodyTail(tail),
  };
}

/** Splits the JSON of a webhook without `confirmed`, as on Aptos. */
export function splitFinalBody(head: object, tail: object): StoredBody {
  return {
    bodyHead: `${JSON.stringify(head).slice(0, -1)},"retries":`,
    bodyTail: toBodyTail(tail),
  };
}

/** Encodes the part of a body after `retries`, which enrichment may complete later. */
export const toBodyTail = (tail: object): string => `,${JSON.stringify(tail).slice(1)}`;

/** Reverses {@link toBodyTail}. */
export const fromBodyTail = (bodyTail: string): unknown => JSON.parse(`{${bodyTail.slice(1)}`);

/** Keys of a body that are not stored completely, because their values depend on the attempt. */
export const ENVELOPE_KEYS: readonly unknown[] = ['confirmed', 'removed', 'retries'];

/**
 * Maximum number of bytes of a body that are not stored: its beginning, and the value of `retries`.
 */
export const ENVELOPE_BYTES = '{"confirmed":false,"removed":true'.length + 10;

/** Returns the maximum size of the body in any phase and attempt, in bytes. */
export const bodyBytes = ({ bodyHead, bodyTail }: StoredBody): number =>
  Buffer.byteLength(bodyHead) + Buffer.byteLength(bodyTail) + ENVELOPE_BYTES;

/**
 * Builds the exact text that an attempt sends and signs. Parsing and serializing it again does not
 * change it.
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
