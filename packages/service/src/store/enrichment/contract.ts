/**
 * Stored tokens, and enrichment, which completes the bodies of matches after the matches are
 * committed.
 */
import type { BlockRef } from '../blocks/contract.ts';

/** Metadata of a token: a contract on EVM chains, a coin type on Aptos. */
export interface Token {
  /** Lowercase address of the contract; on Aptos, the coin type. */
  address: string;
  /** Name of the token. Like `symbol`, empty if the token does not provide it. */
  name: string;
  symbol: string;
  /** From 0 to 255; null if the token does not provide them. */
  decimals: number | null;
  /**
   * Standard that the contract declares with ERC-165; empty if it declares neither standard or
   * both.
   */
  standard: 'ERC721' | 'ERC1155' | '';
  /** The block at which the metadata was read. */
  blockNumber: number;
}

/** The rest of a completed body, after the field `retries`, with a summary of the body. */
export interface CompleteBody {
  bodyTail: string;
  /** One-line summary of the body, for display; empty to keep the stored summary. */
  about: string;
}

/** Result of enriching a match. */
export type CompletedMatch = { matchId: string } & (
  | CompleteBody
  /** Reason why the match cannot be completed. Its deliveries are quarantined with this reason. */
  | { setAside: string }
);

/** A match that waits for data from the chain. */
export interface EnrichingMatch {
  id: string;
  streamId: string;
  block: BlockRef;
  bodyTail: string;
  /** Maximum size of the body before `bodyTail`, in bytes. */
  bodyHeadBytes: number;
  /** JSON plan of the data that is missing from the body. */
  enrichment: string;
}

export interface EnrichReads {
  /**
   * For each chain with deliveries that wait for enrichment, returns the time since which the
   * oldest one has been waiting, in Unix milliseconds. Ignores streams that are not active.
   */
  listEnrichingSince(): Promise<{ chain: string; since: number }[]>;
  /**
   * Returns a chain's matches that wait for enrichment, oldest first: at most `limit`, and at most
   * `perStream` of each stream. Skips the streams and matches in `notStreams` and `notMatches`.
   */
  listEnriching(page: {
    chain: string;
    limit: number;
    perStream: number;
    notStreams: readonly string[];
    notMatches: readonly string[];
  }): Promise<EnrichingMatch[]>;
  /**
   * Returns the stored tokens of these contracts. `readAt` is the time at which the token was last
   * stored, in Unix milliseconds.
   */
  readTokens(
    chain: string,
    addresses: readonly string[],
  ): Promise<{ token: Token; readAt: number }[]>;
}

export interface EnrichWrites {
  /** Stores tokens. Pass at most 500 per call. */
  saveTokens(chain: string, tokens: readonly Token[]): Promise<void>;
  /**
   * Completes the bodies of a chain's matches and makes their deliveries due, or quarantines their
   * deliveries. Skips matches that are already complete or orphaned, and all of them if another
   * process has taken the chain's lease.
   */
  completeEnrichments(completed: {
    chain: string;
    epoch: number;
    completed: readonly CompletedMatch[];
  }): Promise<void>;
}
