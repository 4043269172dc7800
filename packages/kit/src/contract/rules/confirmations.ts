/** The confirmations of a stream, for the service and the forms. */
import type { Confirmations } from '../shapes.generated.ts';

/** Blocks that a stream can wait for, other than a number of blocks. */
export const CONFIRMATION_TAGS = ['latest', 'safe', 'finalized'] as const;

/** Maximum number of blocks that a stream can wait for. */
export const MAX_CONFIRMATIONS = 8_192;

/** Describes valid confirmations, for messages. */
export const CONFIRMATIONS_FORM = `${CONFIRMATION_TAGS.join(', ')}, or a whole number of blocks from 0 to ${MAX_CONFIRMATIONS}`;

/** Parses what a user types, such as `safe` or `20`; returns undefined for any other text. */
export function parseConfirmations(text: string): Confirmations | undefined {
  const typed = text.trim().toLowerCase();
  const tag = CONFIRMATION_TAGS.find((name) => name === typed);
  if (tag !== undefined) return tag;
  const blocks = /^\d{1,5}$/.test(typed) ? Number(typed) : Infinity;
  return blocks <= MAX_CONFIRMATIONS ? blocks : undefined;
}

/** Returns whether matches are confirmed with their own block, so that only one webhook is sent. */
export const isConfirmedAtOnce = (confirmations: Confirmations | null): boolean =>
  confirmations === 'latest' || confirmations === 0;
