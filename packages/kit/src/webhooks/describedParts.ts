/** Formats the parts of the line that describes a webhook. */
import { cutText } from '../contract/rules/text.ts';

/** Bodies of the hosted service do not always have all lists. */
export type Optional<Lists> = { readonly [Name in keyof Lists]?: Lists[Name] | null | undefined };

export const listOf = <Item>(list: readonly Item[] | null | undefined): readonly Item[] =>
  list ?? [];

/** Maximum number of decimals in an amount; further decimals are truncated. */
const MAX_DECIMALS = 6;
/** Maximum number of integer digits of an amount; longer amounts use an exponent. */
const MAX_WHOLE = 21;
/** Maximum length of token and event names, which are untrusted. */
const MAX_NAME_LENGTH = 24;

/** Scales and formats an amount: 1200500000 with 6 decimals becomes `1,200.5`. */
export function toUnits(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const [rest = ''] = /^(?:0*[1-9])*/.exec(digits.slice(digits.length - decimals)) ?? [];
  if (whole.length > MAX_WHOLE) return `${whole[0]}.${whole.slice(1, 3)}e${whole.length - 1}`;
  if (whole === '0' && /^0{6}./.test(rest)) return '<0.000001';
  const shown = rest.length > MAX_DECIMALS ? `${rest.slice(0, MAX_DECIMALS)}…` : rest;
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  return shown === '' ? grouped : `${grouped}.${shown}`;
}

/** Matches control characters, and characters that change the text direction. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
export const toName = (name: string | null | undefined): string =>
  cutText((name ?? '').replaceAll(UNSEEN, ''), MAX_NAME_LENGTH);
/** Formats a token id. Long ids are shortened, because they have up to 78 digits. */
export const formatTokenId = (tokenId: string): string =>
  `#${tokenId.length > MAX_NAME_LENGTH ? `${tokenId.slice(0, 8)}…` : tokenId}`;
export const shorten = (hash: string): string => `${hash.slice(0, 6)}…${hash.slice(-4)}`;
export const formatRoute = (from: string | null, to: string | null): string =>
  `${shorten(from ?? '')} → ${shorten(to ?? '')}`;
export const joinWords = (words: readonly string[]): string =>
  words.filter((word) => word !== '').join(' ');
