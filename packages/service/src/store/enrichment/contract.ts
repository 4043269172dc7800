/**
 * Data that is missing from matches when they are committed: tokens, and the ends of their bodies.
 */
import type { DeliverySummary } from '@sluice/kit/contract';
import type { BlockRef } from '../blocks/contract.ts';

/** Metadata of a token contract. */
export interface Token {
  /** Lowercase. */
  address: string;
  /** Name; empty if the contract does not provide it. */
  name: string;
  symbol: string;
  /** Decimals from 0 to 255; null if the contract does not provide them. */
  decimals: number | null;
  /** Standard declared by the contract (ERC-165); empty if it declares neither. */
  standard: 'ERC721' | 'ERC1155' | '';
  /** The block at which it was read. */
  blockNumber: number;
}

/** The completed end of a body. */
export interface CompleteBody {
  bodyTail: string;
  /** See {@link NewMatch}; empty if unchanged. */
  about: string;
}

/** Result of the enrichment of a match. */
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
  /** Maximum size of everything that is sent before the tail. */
  bodyHeadBytes: number;
  /** See {@link NewMatch}. */
  enrichment: string;
}

export interface EnrichReads {
  /**
   * Returns the time since which the oldest delivery of an active stream has waited for enrichment,
   * by chain.
   */
  listEnrichingSince(): Promise<{ chain: string; since: number }[]>;
  /**
   * Returns matches of a chain that wait for enrichment, oldest first: at most `limit`, and at most
   * `perStream` of each stream, except for the given streams and matches.
   */
  listEnriching(page: {
    chain: string;
    limit: number;
    perStream: number;
    notStreams: readonly string[];
    notMatches: readonly string[];
  }): Promise<EnrichingMatch[]>;
  /**
   * Returns stored tokens of these contracts, and the times of their reads in Unix milliseconds.
   */
  readTokens(
    chain: string,
    addresses: readonly string[],
  ): Promise<{ token: Token; readAt: number }[]>;
}

export interface EnrichWrites {
  /** Stores at most 500 tokens at once. */
  saveTokens(chain: string, tokens: readonly Token[]): Promise<void>;
  /**
   * Completes the bodies of a chain's matches and makes their deliveries due, or quarantines the
   * deliveries; matches that are already complete or orphaned do not change. Returns the deliveries
   * that changed; undefined if another process holds the chain's lease.
   */
  completeEnrichments(completed: {
    chain: string;
    epoch: number;
    completed: readonly CompletedMatch[];
  }): Promise<DeliverySummary[] | undefined>;
}
