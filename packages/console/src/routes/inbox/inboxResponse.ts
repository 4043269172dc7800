import type { Inbox, InboxResponse } from '@sluice/kit/sluice';
import { formatCount, formatDuration, formatQuantity } from '../../ui/text/format.ts';

const ENDINGS: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd', other: 'th' };
const rules = new Intl.PluralRules('en', { type: 'ordinal' });

const nth = (n: number): string => `${formatCount(n)}${ENDINGS[rules.select(n)]}`;

/**
 * Describes the response, such as `Responds with 200 · 500 to every 3rd request · delay 2.0 s`.
 * @param received the number of requests since the response was set.
 */
export function describeResponse(
  { status, delayMs, failFirst, failEvery, failStatus }: Omit<InboxResponse, 'body'>,
  received = 0,
): string {
  const toCome = Math.max(0, failFirst - received);
  const parts = [`Responds with ${status}`];
  if (failStatus !== status) {
    if (failEvery === 1) parts[0] = `Responds with ${failStatus} to every request`;
    else {
      if (toCome > 0) {
        parts.push(
          received === 0
            ? `${failStatus} to the first ${formatQuantity(toCome, 'request')}`
            : `${failStatus} to ${formatQuantity(toCome, 'more request')}`,
        );
      }
      if (failEvery > 0) parts.push(`${failStatus} to every ${nth(failEvery)} request`);
    }
  }
  if (delayMs > 0) parts.push(`delay ${formatDuration(delayMs)}`);
  return parts.join(' · ');
}

export const describeInbox = ({ response, received }: Inbox): string =>
  describeResponse(response, received);
