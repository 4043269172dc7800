/** Formats the result of a dry run as lines of limited width. */
import { describeWebhook } from '@sluice/kit';
import type { AnyWebhook } from '@sluice/kit/contract';
import { nameOfCloseMatch } from '@sluice/kit/operator';
import type { CloseMatch, ObservedEvent, ObservedMovePath } from '@sluice/kit/sluice';
import { webhooksLike } from '../families/webhooks.ts';
import { cutText, shortenHash } from '../terminal/text.ts';
import { formatCount, formatQuantity } from '../terminal/progress.ts';

/**
 * Maximum number of trigger results and balances, and of observed events or calls, that are listed.
 * A busy block has hundreds of each.
 */
const SHOWN_READINGS = 5;
const SHOWN_OBSERVED = 8;
/** Maximum length of a formatted number; usual token amounts are shorter. */
const MAX_NUMBER_LENGTH = 30;

/**
 * Describes a matching block: its number of records, the first record, trigger results and
 * balances.
 */
export function describeBlock(
  block: number,
  records: number,
  webhook: AnyWebhook,
  width: number,
): string[] {
  const about = describeWebhook(webhook);
  const readings = webhooksLike(webhook).readingsOf(webhook);
  const more = readings.length - SHOWN_READINGS;
  return [
    `#${block}  ${formatQuantity(records, 'record')}  ${about}`,
    ...readings.slice(0, SHOWN_READINGS).map((each) => `    ${each}`),
    ...(more > 0 ? [`    and ${formatCount(more)} more (use --json to see all)`] : []),
  ].map((line) => cutText(line, width));
}

/** Lists the close matches of filters. */
export function describeCloseMatches(
  closeMatches: readonly CloseMatch[],
  tx: string | undefined,
  width: number,
): string[] {
  if (closeMatches.length === 0) return [];
  return [
    `Close matches${tx === undefined ? '' : ' in the complete block'}:`,
    ...closeMatches.flatMap((each) => {
      const { name, operator, filterValue, min, max } = each;
      return [
        `  ${formatCount(each.count)} × ${nameOfCloseMatch(each)}  ${name} ${SIGNS[operator]} ${number(filterValue)}`,
        `      actual: ${min === max ? number(min) : `${number(min)} – ${number(max)}`}`,
      ];
    }),
  ].map((line) => cutText(line, width));
}

export type Observed = ObservedEvent | ObservedMovePath;

/** Lists the most frequent events and calls of the addresses, over all blocks of the dry run. */
export function describeObserved(
  observed: readonly Observed[],
  tx: string | undefined,
  width: number,
): string[] {
  const where = tx === undefined ? '' : ' in the complete block';
  const paths = Map.groupBy(
    observed.filter((each) => 'path' in each),
    ({ kind }) => kind,
  );
  return [
    ...listObserved(`Events of the addresses${where}`, nameEvents(observed.filter(isEvent))),
    ...listObserved(
      `Functions called in transactions of the addresses${where}`,
      namePaths(paths.get('function')),
    ),
    ...listObserved(
      `Events in transactions of the addresses${where}`,
      namePaths(paths.get('event')),
    ),
  ].map((line) => cutText(line, width));
}

interface NamedCount {
  name: string;
  count: number;
}

function listObserved(title: string, observed: readonly NamedCount[]): string[] {
  if (observed.length === 0) return [];
  const widest = Math.max(...observed.map((each) => formatCount(each.count).length));
  const more = observed.length - SHOWN_OBSERVED;
  return [
    `${title}:`,
    ...observed
      .slice(0, SHOWN_OBSERVED)
      .map(({ name, count: found }) => `  ${formatCount(found).padStart(widest)} × ${name}`),
    ...(more > 0 ? [`  and ${formatCount(more)} more (use --json to see all)`] : []),
  ];
}

const isEvent = (observed: Observed): observed is ObservedEvent => 'topic0' in observed;

function nameEvents(events: readonly ObservedEvent[]): NamedCount[] {
  const topics = events.map(({ topic0 }) => topic0);
  // Events of ERC-20 and ERC-721 can share a topic, but differ in the number of indexed fields.
  const isTwo = (topic0: string) => topics.indexOf(topic0) !== topics.lastIndexOf(topic0);
  return events.map(({ topic0, signature, indexed, count: found }) => ({
    name:
      (isTwo(topic0) ? `${indexed} indexed  ` : '') +
      (signature ?? `${shortenHash(topic0)}  unknown event`),
    count: found,
  }));
}

/** Shortens the addresses in paths, because the end of a path is more informative. */
const namePaths = (paths: readonly ObservedMovePath[] = []): NamedCount[] =>
  paths.map(({ path, count: found }) => ({
    name: path.replace(/0x[0-9a-f]{16,}/g, shortenHash),
    count: found,
  }));

const SIGNS = { lt: '<', lte: '≤', gt: '>', gte: '≥' } as const;

const number = (decimal: string): string =>
  cutText(BigInt(decimal).toLocaleString('en-US'), MAX_NUMBER_LENGTH, 'middle');
