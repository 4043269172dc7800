/**
 * URL search params of each page, parsed. They come from links and hands, so whatever is not
 * understood is dropped: a bad link shows the page without that filter.
 */
import type { DeliveryState } from '@sluice/kit/sluice';

const pick = <T extends string>(value: unknown, allowed: readonly T[]): T | undefined =>
  allowed.find((item) => item === value);

/** The router reads `q=500` as a number; here it is text again. */
const text = (value: unknown, maxLength: number): string | undefined => {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const trimmed = String(value).trim();
  return trimmed === '' ? undefined : trimmed.slice(0, maxLength);
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const uuid = (value: unknown): string | undefined =>
  typeof value === 'string' && UUID.test(value) ? value.toLowerCase() : undefined;

/** Drops the keys without value, so that they do not appear in the URL. */
const present = <T extends object>(values: { [K in keyof T]: T[K] | undefined }): T =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;

export const STREAM_SHOWS = ['failing', 'paused'] as const;

export interface StreamsSearch {
  /** Words to find in tag, description, URL and chains. */
  q?: string;
  show?: (typeof STREAM_SHOWS)[number];
}

export function parseStreamsSearch(input: Record<string, unknown>): StreamsSearch {
  return present<StreamsSearch>({
    q: text(input['q'], 200),
    show: pick(input['show'], STREAM_SHOWS),
  });
}

export const DELIVERY_STATES: readonly DeliveryState[] = [
  'pending',
  'leased',
  'succeeded',
  'failed',
  'cancelled',
];

export const INSPECTOR_TABS = ['body', 'attempts', 'headers'] as const;
export type InspectorTab = (typeof INSPECTOR_TABS)[number];

export interface DeliveriesSearch {
  state?: DeliveryState;
  /** Id of the stream. */
  stream?: string;
  /** Id of the delivery in the inspector. */
  sel?: string;
  tab?: InspectorTab;
}

export function parseDeliveriesSearch(input: Record<string, unknown>): DeliveriesSearch {
  return present<DeliveriesSearch>({
    state: pick(input['state'], DELIVERY_STATES),
    stream: uuid(input['stream']),
    sel: uuid(input['sel']),
    tab: pick(input['tab'], INSPECTOR_TABS),
  });
}

export interface SignInSearch {
  /** Path and search to return to, below `/console`. */
  back?: string;
}

export function parseSignInSearch(input: Record<string, unknown>): SignInSearch {
  const back = text(input['back'], 2000);
  // `//host` and `/\host` leave the site.
  return back !== undefined && /^\/(?![/\\])/.test(back) ? { back } : {};
}

/** Where sign-in leads, as a whole path. */
export function hrefOf({ back = '/' }: SignInSearch): string {
  return `/console${back}`;
}

/** The key of a link such as `…/console/#key=…`; null when there is none. */
export function parseKeyFragment(hash: string): string | null {
  const key = new URLSearchParams(hash.replace(/^#/, '')).get('key');
  return key === null || key === '' ? null : key;
}
