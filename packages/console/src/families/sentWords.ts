import type { StreamDraft } from '../routes/streamForm/draft/draft.ts';
import type { KnownTokens } from '../routes/streamForm/draft/knownTokens.ts';

/** The parts of a sentence about what a stream sends. */
export interface SentParts {
  /** Kinds of records of the watched addresses, such as `Transfer events`. */
  readonly records: readonly string[];
  /** Filters of the records, such as `Transfer where value at least 5 USDC`. */
  readonly filters: readonly string[];
  /** Values on chain, with their condition. */
  readonly values: readonly string[];
  /** Addresses that the stream watches besides its own, such as `the children of 1 factory`. */
  readonly additionally: readonly string[];
}

/** Describes what the streams of one chain family send. */
export type SentWords = (draft: StreamDraft, known: KnownTokens) => SentParts;
