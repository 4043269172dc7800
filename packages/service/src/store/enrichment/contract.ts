/** Data that matches lack when they are committed: tokens, and the ends of their bodies. */
import type { DeliverySummary } from '@sluice/kit/contract';
import type { BlockRef } from '../blocks/contract.ts';

/** Metadata of a token contract. */
export interface Token {
  /** Lowercase. */
  address: string;
  /** Empty if the contract does not provide it. */
  name: string;
  symbol: string;
  /** 0 to 255; null if the contract does not provide it. */
  decimals: number | null;
  /** As declared by the contract (ERC-165); empty if it declares neither. */
  standard: 'ERC721' | 'ERC1155' | '';
  /** The block at which it was read. */
  blockNumber: number;
}

/** The completed end of a body. */
export interface CompleteBody {
  bodyTail: string;
  /** As in {@link NewMatch}; empty if unchanged. */
  about: string;
}

/** How the enrichment of a match ended. */
export type CompletedMatch = { matchId: string } & (
  | CompleteBody
  /** Why it cannot be completed: its deliveries are quarantined with this reason. */
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
  /** As in {@link NewMatch}. */
  enrichment: string;
}

export interface EnrichReads {
  /** When the oldest delivery of an active stream began to wait for enrichment, by chain. */
  listEnrichingSince(): Promise<{ chain: string; since: number }[]>;
  /**
   * Matches of a chain that wait for enrichment, oldest first: at most `limit`, and at most
   * `perStream` of each stream, except those of the given streams and the given matches.
   */
  listEnriching(page: {
    chain: string;
    limit: number;
    perStream: number;
    notStreams: readonly string[];
    notMatches: readonly string[];
  }): Promise<EnrichingMatch[]>;
  /** Stored tokens of these contracts, and when each was read, in Unix milliseconds. */
  readTokens(
    chain: string,
    addresses: readonly string[],
  ): Promise<{ token: Token; readAt: number }[]>;
}

export interface EnrichWrites {
  /** At most 500 at once. */
  saveTokens(chain: string, tokens: readonly Token[]): Promise<void>;
  /**
   * Completes the bodies of a chain's matches and makes their deliveries due, or quarantines the
   * deliveries. A match that is already complete, or whose block left the chain, does not change.
   * Returns the deliveries that changed; undefined if another process holds the chain's lease, in
   * which case nothing is written.
   */
  completeEnrichments(completed: {
    chain: string;
    epoch: number;
    completed: readonly CompletedMatch[];
  }): Promise<DeliverySummary[] | undefined>;
}
