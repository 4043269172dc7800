import type { DeliveryPhase } from '@sluice/kit/contract';

/**
 * A stored body: everything between `"confirmed":` and the value of `retries`, and all after it. A
 * body without `confirmed`, as those of Aptos are, is stored from its first brace on.
 */
export interface StoredBody {
  bodyHead: string;
  bodyTail: string;
}

/**
 * Splits the JSON of a webhook whose first key is `confirmed` and whose other keys before
 * `retries` are given as `head`, those after it as `tail`. The parts are stored once per match;
 * the two values that differ between deliveries and attempts are joined in for each attempt.
 */
export function splitBody(head: object, tail: object): StoredBody {
  return {
    bodyHead: `,${JSON.stringify(head).slice(1, -1)},"retries":`,
    bodyTail: toBodyTail(tail),
  };
}

/** The same for a webhook that says nothing of `confirmed`: what is delivered once is so for good. */
export function splitFinalBody(head: object, tail: object): StoredBody {
  return {
    bodyHead: `${JSON.stringify(head).slice(0, -1)},"retries":`,
    bodyTail: toBodyTail(tail),
  };
}

/** The end of a body on its own, for one that is completed later. */
export const toBodyTail = (tail: object): string => `,${JSON.stringify(tail).slice(1)}`;

/** What {@link toBodyTail} was given. */
export const fromBodyTail = (bodyTail: string): unknown => JSON.parse(`{${bodyTail.slice(1)}`);

/** The longest beginning of a body, and a number of retries of any length. */
export const ENVELOPE_BYTES = '{"confirmed":false,"removed":true'.length + 10;

/** The most bytes that an attempt sends of it, in any phase. */
export const bodyBytes = ({ bodyHead, bodyTail }: StoredBody): number =>
  Buffer.byteLength(bodyHead) + Buffer.byteLength(bodyTail) + ENVELOPE_BYTES;

/** The exact text one attempt sends and signs: a fixed point of parse-then-stringify. */
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
