/** What an inbox answers, in words. Pure. */
import type { Inbox, InboxAnswer } from '@sluice/kit/sluice';
import { formatCount, formatDuration } from '../../ui/text/format.ts';

const WORDS = ['', 'every', 'every second', 'every third', 'every fourth', 'every fifth'];

const ENDINGS: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd', other: 'th' };
const rules = new Intl.PluralRules('en', { type: 'ordinal' });

const everyNth = (n: number): string =>
  WORDS[n] ?? `every ${formatCount(n)}${ENDINGS[rules.select(n)]}`;

/**
 * `Answers 500 to every third request, 200 to the others, after 2.0 s`.
 * @param received how many came since it was set; those of the first that are still to fail are told.
 */
export function describeAnswer(
  { status, delayMs, failFirst, failEvery, failStatus }: Omit<InboxAnswer, 'body'>,
  received = 0,
): string {
  const toCome = Math.max(0, failFirst - received);
  const ofFirst = `the ${received === 0 ? 'first' : 'next'} ${toCome === 1 ? 'request' : `${formatCount(toCome)} requests`}`;
  const failing = [
    ...(toCome > 0 ? [ofFirst] : []),
    ...(failEvery > 0 ? [`${everyNth(failEvery)} request`] : []),
  ];
  const wait = delayMs === 0 ? 'at once' : `after ${formatDuration(delayMs)}`;
  if (failing.length === 0 || failStatus === status) return `Answers ${status}, ${wait}`;
  const others =
    failEvery === 1 ? '' : failEvery > 0 ? `, ${status} to the others` : `, then ${status}`;
  return `Answers ${failStatus} to ${failing.join(' and ')}${others}, ${wait}`;
}

export const describeInbox = ({ answer, received }: Inbox): string =>
  describeAnswer(answer, received);
