import { cutText } from '@sluice/kit/contract';

/** Maximum length of a name or symbol in characters; longer ones are truncated. */
export const MAX_TEXT_CHARACTERS = 128;

/**
 * Removes invalid UTF-8, control characters, line separators and text direction marks. Trims the
 * rest and truncates it to {@link MAX_TEXT_CHARACTERS}.
 */
export function cleanText(text: string): string {
  const clean = text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffd]/gu, '')
    .trim();
  return cutText(clean, MAX_TEXT_CHARACTERS);
}
