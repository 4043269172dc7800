/** Adds the reasons of failed calls to a body, from the traces of their transactions. */
import type { WebhookCall } from '@sluice/kit/contract';
import { type CustomErrors, MAX_REASON_BYTES, NOT_TRACED, toReason } from '../base/callFailure.ts';
import type { BodyTail } from './records.ts';
import type { FailureAnswer } from './state.ts';

/** Maximum number of transactions that are traced for one match. */
const MAX_TRACED = 1_000;
const TOO_MANY = `not traced: more than ${MAX_TRACED} transactions failed`;

const unread = ({ calls = [] }: Pick<BodyTail, 'calls'>): WebhookCall[] =>
  calls.filter(({ reasonUnavailable }) => reasonUnavailable === NOT_TRACED);

/** Returns whether a failed call lacks its reason. */
export const lacksReasons = (tail: BodyTail): boolean => unread(tail).length > 0;

/** Returns the maximum number of bytes that {@link addReasons} adds. */
export const maxReasonBytes = (tail: BodyTail): number => unread(tail).length * MAX_REASON_BYTES;

/** Adds the reasons in place. Returns why the nodes refused a trace; undefined if they did not. */
export async function addReasons(
  tail: BodyTail,
  errors: CustomErrors,
  read: (hashes: readonly string[]) => Promise<FailureAnswer[]>,
): Promise<string | undefined> {
  const calls = unread(tail);
  if (calls.length === 0) return undefined;
  for (const call of calls.slice(MAX_TRACED)) call.reasonUnavailable = TOO_MANY;
  const traced = calls.slice(0, MAX_TRACED);
  const answers = await read(traced.map(({ transactionHash }) => transactionHash));
  let refused: string | undefined;
  for (const [n, call] of traced.entries()) {
    const answer = answers[n]!;
    if (answer.outcome === 'read' && answer.failure !== undefined) {
      delete call.reasonUnavailable;
      call.reason = toReason(answer.failure, errors);
    } else {
      call.reasonUnavailable =
        answer.outcome === 'read' ? 'its trace shows no failure' : answer.message;
    }
    if (answer.outcome === 'refused') refused ??= answer.message;
  }
  return refused;
}
