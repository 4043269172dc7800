/** A dry run for people, in lines of at most so many columns as given. Pure. */
import {
  type AptosWebhook,
  type EvmWebhook,
  type WebhookTrigger,
  describeWebhook,
  isAptosWebhook,
} from '@sluice/kit';
import type { NearMiss, SeenEvent, SeenMovePath } from '@sluice/kit/sluice';
import { cutText } from '../terminal/text.ts';
import { count } from '../terminal/progress.ts';

/** A busy block has hundreds. */
const SHOWN_READINGS = 5;
const SHOWN_SEEN = 8;
/** Digits and commas of one bound: more than any token's usual amounts have. */
const LONGEST_NUMBER = 30;

/** A block that matches: its first record, what triggers answered and what accounts held there. */
export function describeBlock(
  block: number,
  records: number,
  webhook: EvmWebhook | AptosWebhook,
  width: number,
): string[] {
  const about = describeWebhook(webhook);
  const readings = readingsOf(webhook);
  const more = readings.length - SHOWN_READINGS;
  return [
    `#${block}  ${records} records  ${about}`,
    ...readings.slice(0, SHOWN_READINGS).map((each) => `    ${each}`),
    ...(more > 0 ? [`    and ${count(more)} more, which --json has`] : []),
  ].map((line) => cutText(line, width));
}

/** What one comparison of a filter kept out, rule by rule; also where one transaction is looked for. */
export function describeNearMisses(
  near: readonly NearMiss[],
  tx: string | undefined,
  width: number,
): string[] {
  if (near.length === 0) return [];
  return [
    `Not matched but close${tx === undefined ? '' : ', in the whole block'}:`,
    ...near.flatMap(({ count: found, event, name, operator, wanted, min, max }) => [
      `  ${count(found)} × ${event.slice(0, event.indexOf('('))}  ${name} ${SIGNS[operator]} ${number(wanted)}`,
      `      it was ${min === max ? number(min) : `${number(min)} – ${number(max)}`}`,
    ]),
  ].map((line) => cutText(line, width));
}

export type Seen = SeenEvent | SeenMovePath;

/** What the addresses had in all blocks together; of what is much the most frequent. */
export function describeSeen(
  seen: readonly Seen[],
  tx: string | undefined,
  width: number,
): string[] {
  const where = tx === undefined ? '' : ', in the whole block';
  const paths = Map.groupBy(
    seen.filter((each) => 'path' in each),
    ({ kind }) => kind,
  );
  return [
    ...listSeen(`Seen at the addresses${where}`, nameEvents(seen.filter(isEvent))),
    ...listSeen(
      `Called in transactions of the addresses${where}`,
      namePaths(paths.get('function')),
    ),
    ...listSeen(`Events in transactions of the addresses${where}`, namePaths(paths.get('event'))),
  ].map((line) => cutText(line, width));
}

interface NamedCount {
  name: string;
  count: number;
}

function listSeen(title: string, seen: readonly NamedCount[]): string[] {
  if (seen.length === 0) return [];
  const widest = Math.max(...seen.map((each) => count(each.count).length));
  const more = seen.length - SHOWN_SEEN;
  return [
    `${title}:`,
    ...seen
      .slice(0, SHOWN_SEEN)
      .map(({ name, count: found }) => `  ${count(found).padStart(widest)} × ${name}`),
    ...(more > 0 ? [`  and ${count(more)} more, which --json has`] : []),
  ];
}

const isEvent = (seen: Seen): seen is SeenEvent => 'topic0' in seen;

function nameEvents(events: readonly SeenEvent[]): NamedCount[] {
  const topics = events.map(({ topic0 }) => topic0);
  // Of an ERC-20 and of an ERC-721.
  const isTwo = (topic0: string) => topics.indexOf(topic0) !== topics.lastIndexOf(topic0);
  return events.map(({ topic0, signature, indexed, count: found }) => ({
    name:
      (isTwo(topic0) ? `${indexed} indexed  ` : '') +
      (signature ?? `${shorten(topic0)}  name not known`),
    count: found,
  }));
}

/** With short addresses: what a path ends with tells more. */
const namePaths = (paths: readonly SeenMovePath[] = []): NamedCount[] =>
  paths.map(({ path, count: found }) => ({
    name: path.replace(/0x[0-9a-f]{16,}/g, shorten),
    count: found,
  }));

const SIGNS = { lt: '<', lte: '≤', gt: '>', gte: '≥' } as const;

const number = (decimal: string): string =>
  cutText(BigInt(decimal).toLocaleString('en-US'), LONGEST_NUMBER, 'middle');

function readingsOf(webhook: EvmWebhook | AptosWebhook): string[] {
  if (isAptosWebhook(webhook)) return [];
  const { logs, txs, erc20Transfers, erc20Approvals, nftTransfers, nativeBalances } = webhook;
  const records: { triggers?: WebhookTrigger[] }[] = [
    logs,
    txs,
    erc20Transfers,
    erc20Approvals,
    nftTransfers,
  ].flat();
  return [
    ...records
      .flatMap(({ triggers = [] }) => triggers)
      .map(({ name, value }) => `trigger  ${name}  ${textOf(value)}`),
    ...nativeBalances.map(
      ({ address, balance }) => `balance  ${shorten(address)}  ${toNative(balance)} native`,
    ),
  ];
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** `0x70997970…` as `0x7099…79c8`. */
const shorten = (hash: string): string => `${hash.slice(0, 6)}…${hash.slice(-4)}`;

/** `1.5` of 1500000000000000000: every EVM chain's own currency has 18 decimals. */
function toNative(amount: string): string {
  const digits = amount.padStart(19, '0');
  const [rest] = /^(?:0*[1-9])*/.exec(digits.slice(-18))!;
  return `${digits.slice(0, -18)}${rest === '' ? '' : `.${rest}`}`;
}
