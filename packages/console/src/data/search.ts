/**
 * Parses the URL search params of each page. Invalid values are dropped, so that a link with a
 * mistake still opens the page.
 */
import type { AttemptResult, DeliveryPhase, DeliveryState } from '@sluice/kit/sluice';
import {
  ATTEMPT_RESULTS,
  DELIVERY_STATES,
  MAX_BODY_QUERY_LENGTH,
  MAX_FIND_LENGTH,
  cutText,
  readBodyQuery,
} from '@sluice/kit/contract';
import type { ListFilter } from './live/liveCache.ts';
import { RECIPE_IDS, type RecipeId } from '../families/recipeIds.ts';
import { recognize, toQuestion, UUID } from '../words/paste.ts';

const pick = <T extends string>(value: unknown, allowed: readonly T[]): T | undefined =>
  allowed.find((item) => item === value);

/**
 * Returns the trimmed text, truncated to `maxLength` characters; undefined if it is empty. Accepts
 * numbers, because the router parses `q=500` as a number.
 */
const text = (value: unknown, maxLength: number): string | undefined => {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const trimmed = String(value).trim();
  return trimmed === '' ? undefined : cutText(trimmed, maxLength);
};

const bodyQuery = (value: unknown): string | undefined => {
  const query = text(value, MAX_BODY_QUERY_LENGTH);
  return query !== undefined && readBodyQuery(query) !== undefined ? query : undefined;
};

/**
 * Works like `text`, but keeps trailing spaces, because another word may follow while the user
 * types.
 */
const words = (value: unknown, maxLength: number): string | undefined =>
  text(value, maxLength) && String(value).trimStart().slice(0, maxLength);

/**
 * Returns whether the user is editing an existing search text. An edit replaces the history entry.
 * Starting or clearing a search adds one, so that Back undoes the search.
 */
export const isTyping = (before = '', after = ''): boolean =>
  before.trim() !== '' && after.trim() !== '';

const uuid = (value: unknown): string | undefined =>
  typeof value === 'string' && UUID.test(value) ? value.toLowerCase() : undefined;

/** Accepts whole Unix milliseconds from 0 to the maximum of `Date`. */
const time = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 8.64e15
    ? value
    : undefined;

/** Accepts a whole number from 0, such as the position of an entry of a list. */
const position = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;

/** Drops undefined values, so that they do not appear in the URL. */
export const withoutUndefined = <T extends object>(values: {
  [K in keyof T]: T[K] | undefined;
}): T => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;

export const STREAM_SHOWS = ['failing', 'paused'] as const;

export const STREAM_SORTS = [
  { value: 'last', label: 'Last delivery' },
  { value: 'name', label: 'Name' },
  { value: 'failures', label: 'Failed attempts' },
] as const;

export interface StreamsSearch {
  /**
   * Words to find in the tag, description, webhook URL, id and chains of a stream. A word that
   * begins with `chain:` or `tag:` is searched only in that field.
   */
  q?: string;
  show?: (typeof STREAM_SHOWS)[number];
  /** Sort order; undefined shows the newest stream first. */
  sort?: (typeof STREAM_SORTS)[number]['value'];
}

export function parseStreamsSearch(input: Record<string, unknown>): StreamsSearch {
  return withoutUndefined<StreamsSearch>({
    q: words(input['q'], 200),
    show: pick(input['show'], STREAM_SHOWS),
    sort: pick(input['sort'], valuesOf(STREAM_SORTS)),
  });
}

export const INSPECTOR_TABS = [
  'decoded',
  'payload',
  'response',
  'attempts',
  'headers',
  'code',
] as const;
export type InspectorTab = (typeof INSPECTOR_TABS)[number];

export const PHASES: readonly DeliveryPhase[] = ['unconfirmed', 'confirmed', 'removed'];

/** A status code, a class such as `5xx`, or `none` if the last attempt got no response. */
const STATUS = /^([1-5]\d\d|[1-5]xx|none)$/;

/** Choices of the attempts filter; `from` and `to` are inclusive. */
export const ATTEMPT_RANGES = [
  { value: 'none', label: 'not attempted', from: 0, to: 0 },
  { value: 'one', label: '1 attempt', from: 1, to: 1 },
  { value: 'several', label: '2+ attempts', from: 2, to: Infinity },
  { value: 'many', label: '5+ attempts', from: 5, to: Infinity },
] as const;

const MINUTE_MS = 60_000;

/** Choices of the age filter. */
export const SINCES = [
  { value: '15m', label: '15 minutes', ms: 15 * MINUTE_MS },
  { value: '1h', label: 'hour', ms: 60 * MINUTE_MS },
  { value: '24h', label: '24 hours', ms: 24 * 60 * MINUTE_MS },
  { value: '7d', label: '7 days', ms: 7 * 24 * 60 * MINUTE_MS },
] as const;

const valuesOf = <T>(choices: readonly { value: T }[]): T[] => choices.map(({ value }) => value);

export interface DeliveriesSearch {
  state?: DeliveryState;
  phase?: DeliveryPhase;
  status?: string;
  chain?: string;
  /** Whether the block left the chain. */
  reorged?: boolean;
  attempts?: (typeof ATTEMPT_RANGES)[number]['value'];
  since?: (typeof SINCES)[number]['value'];
  /** Earliest creation time of the deliveries, inclusive, in Unix milliseconds. */
  from?: number;
  /** Latest creation time of the deliveries, inclusive, in Unix milliseconds. */
  until?: number;
  /** First and last block of the deliveries, inclusive. */
  blockFrom?: number;
  blockTo?: number;
  /** Text to search for: a transaction hash, an address, or part of a label or a summary. */
  q?: string;
  /** Text or path to search for in the bodies, see `readBodyQuery`. */
  body?: string;
  /**
   * Period in which an attempt of the delivery ended, both ends inclusive, in Unix milliseconds.
   */
  triedFrom?: number;
  triedUntil?: number;
  /** Duration of the same attempt, both ends inclusive, in milliseconds. */
  tookFrom?: number;
  tookUntil?: number;
  /** Result of the same attempt. */
  result?: AttemptResult;
  /** Host or inbox of the destinations, as `receiverOf` names it. */
  receiver?: string;
  /** Id of the replay that last sent the deliveries. */
  replay?: string;
  stream?: string;
  /** Number of a destination of the stream; 0 for its `webhookUrl`. */
  destination?: number;
  /** Id of the delivery in the inspector. */
  sel?: string;
  view?: InspectorTab;
}

/** Drops the destination without a stream, because each stream numbers its destinations. */
export function parseDeliveriesSearch(input: Record<string, unknown>): DeliveriesSearch {
  const { destination, ...search } = parseFilters(input);
  return search.stream === undefined || destination === undefined
    ? search
    : { ...search, destination };
}

function parseFilters(input: Record<string, unknown>): DeliveriesSearch {
  const status = text(input['status'], 4);
  return withoutUndefined<DeliveriesSearch>({
    state: pick(input['state'], DELIVERY_STATES),
    phase: pick(input['phase'], PHASES),
    status: status !== undefined && STATUS.test(status) ? status : undefined,
    chain: text(input['chain'], 40),
    reorged: typeof input['reorged'] === 'boolean' ? input['reorged'] : undefined,
    attempts: pick(input['attempts'], valuesOf(ATTEMPT_RANGES)),
    since: pick(input['since'], valuesOf(SINCES)),
    from: time(input['from']),
    until: time(input['until']),
    blockFrom: position(input['blockFrom']),
    blockTo: position(input['blockTo']),
    q: text(input['q'], MAX_FIND_LENGTH),
    body: bodyQuery(input['body']),
    triedFrom: time(input['triedFrom']),
    triedUntil: time(input['triedUntil']),
    tookFrom: position(input['tookFrom']),
    tookUntil: position(input['tookUntil']),
    result: pick(input['result'], ATTEMPT_RESULTS),
    receiver: text(input['receiver'], 300),
    replay: uuid(input['replay']),
    stream: uuid(input['stream']),
    destination: position(input['destination']),
    sel: uuid(input['sel']),
    view: pick(input['view'], INSPECTOR_TABS),
  });
}

/**
 * Search params of a delivery's page: its tab, and the filter of the list from which it was opened,
 * without `until`.
 */
export type DeliverySearch = Omit<DeliveriesSearch, 'sel' | 'until'>;

export function parseDeliverySearch(input: Record<string, unknown>): DeliverySearch {
  const { sel: _sel, until: _until, ...search } = parseDeliveriesSearch(input);
  return search;
}

/** Fields of the form of a new stream that a link can fill in. */
export interface NewStreamSearch {
  recipe?: RecipeId;
  /** One address, or a list in the format of the form's address field. */
  address?: string;
  /** Event signatures, an ABI or the path of a function. */
  event?: string;
}

/** Maximum length of a field in a link. The form itself has no such limit. */
const MAX_GIVEN_LENGTH = 20_000;

export function parseNewStreamSearch(input: Record<string, unknown>): NewStreamSearch {
  return withoutUndefined<NewStreamSearch>({
    recipe: pick(input['recipe'], RECIPE_IDS),
    address: text(input['address'], MAX_GIVEN_LENGTH),
    event: text(input['event'], MAX_GIVEN_LENGTH),
  });
}

export const STREAM_TABS = [
  'deliveries',
  'consumers',
  'addresses',
  'children',
  'rules',
  'metrics',
  'coverage',
  'settings',
] as const;
export type StreamTab = (typeof STREAM_TABS)[number];

/** Periods that end now, for the metrics of a stream; `step` is in minutes. */
export const METRICS_SPANS = [
  { value: 'hour', label: 'Hour', step: 1, points: 60 },
  { value: 'day', label: 'Day', step: 5, points: 288 },
  { value: 'week', label: 'Week', step: 60, points: 168 },
] as const;

/**
 * Search params of a stream's page. In the metrics tab, `from` and `until` select a custom period.
 */
export interface StreamSearch extends Omit<DeliveriesSearch, 'stream'> {
  tab?: StreamTab;
  /** Period that ends now, for the metrics; undefined shows a day. */
  span?: (typeof METRICS_SPANS)[number]['value'];
  /**
   * Minutes by which the compared period is earlier than the period of the metrics; undefined
   * compares with the period directly before.
   */
  ago?: number;
  /** Search text for the stream's addresses or children. */
  find?: string;
  /** Position of the factory whose children are listed. */
  entry?: number;
}

export function parseStreamSearch(input: Record<string, unknown>): StreamSearch {
  const { stream: _, ...deliveries } = parseFilters(input);
  return withoutUndefined<StreamSearch>({
    tab: pick(input['tab'], STREAM_TABS),
    span: pick(input['span'], valuesOf(METRICS_SPANS)),
    ago: position(input['ago']),
    find: words(input['find'], MAX_FIND_LENGTH),
    entry: position(input['entry']),
    ...deliveries,
  });
}

export type ReplaySearch = Omit<DeliveriesSearch, 'replay'>;

export function parseReplaySearch(input: Record<string, unknown>): ReplaySearch {
  const { replay: _, ...search } = parseDeliveriesSearch(input);
  return search;
}

export type AddressSearch = Omit<DeliveriesSearch, 'q'>;

export function parseAddressSearch(input: Record<string, unknown>): AddressSearch {
  const { q: _, ...search } = parseDeliveriesSearch(input);
  return search;
}

export const REQUEST_VIEWS = ['body', 'headers', 'signature', 'answer'] as const;
export type RequestView = (typeof REQUEST_VIEWS)[number];

export interface InboxSearch {
  /** Id of the webhook in the inspector. */
  sel?: string;
  view?: RequestView;
}

export function parseInboxSearch(input: Record<string, unknown>): InboxSearch {
  return withoutUndefined<InboxSearch>({
    sel: text(input['sel'], 64),
    view: pick(input['view'], REQUEST_VIEWS),
  });
}

export interface ExplainSearch {
  /** Query of Explain: a hash, a block number, an address, an ENS name or an id. */
  q?: string;
  /** Id of the chain to search; undefined searches all chains. */
  chain?: string;
}

/** Maximum length of a query, which may be the URL of a block explorer's page. */
const MAX_QUESTION_LENGTH = 500;

export function parseExplainSearch(input: Record<string, unknown>): ExplainSearch {
  const q = text(input['q'], MAX_QUESTION_LENGTH);
  return withoutUndefined<ExplainSearch>({
    // Reduces an explorer URL to its hash, address or number, and removes separators from numbers.
    q: q && (toQuestion(recognize(q)) ?? q),
    chain: text(input['chain'], 40),
  });
}

export interface VerifySearch {
  /** Id of the delivery whose id and body the page fills in. */
  delivery?: string;
}

export function parseVerifySearch(input: Record<string, unknown>): VerifySearch {
  return withoutUndefined<VerifySearch>({ delivery: uuid(input['delivery']) });
}

export interface ApiSearch {
  /** Name of the shown call. */
  call?: string;
  /** Words to find in the name, method, path, summary and subject of a call. */
  q?: string;
}

export function parseApiSearch(input: Record<string, unknown>): ApiSearch {
  return withoutUndefined<ApiSearch>({ call: text(input['call'], 100), q: words(input['q'], 200) });
}

export function toListFilter(search: DeliveriesSearch): ListFilter {
  const range = ATTEMPT_RANGES.find(({ value }) => value === search.attempts);
  return withoutUndefined<ListFilter>({
    state: search.state,
    streamId: search.stream,
    destination: search.destination,
    chainId: search.chain,
    phase: search.phase,
    status: search.status,
    reorged: search.reorged,
    attemptsFrom: range?.from,
    attemptsTo: range?.to === Infinity ? undefined : range?.to,
    find: search.q,
    body: search.body,
    attemptedFrom: search.triedFrom,
    attemptedTo: search.triedUntil,
    durationFrom: search.tookFrom,
    durationTo: search.tookUntil,
    attemptResult: search.result,
    receiver: search.receiver,
    blockFrom: search.blockFrom,
    blockTo: search.blockTo,
    createdFrom: search.from,
    createdTo: search.until,
    sinceMs: SINCES.find(({ value }) => value === search.since)?.ms,
    replayId: search.replay,
  });
}

export interface SignInSearch {
  /** Path and query to return to after sign-in, relative to `/console`. */
  back?: string;
}

export function parseSignInSearch(input: Record<string, unknown>): SignInSearch {
  const back = text(input['back'], 2000);
  // Rejects `//host` and `/\host`, which lead to another site.
  return back !== undefined && /^\/(?![/\\])/.test(back) ? { back } : {};
}

/** Returns the complete path and query that sign-in redirects to. */
export function hrefOf({ back = '/' }: SignInSearch): string {
  return `/console${back}`;
}

/** Returns the API key in a URL fragment such as `#key=…`; null if there is none. */
export function parseKeyFragment(hash: string): string | null {
  const key = new URLSearchParams(hash.replace(/^#/, '')).get('key');
  return key === null || key === '' ? null : key;
}
