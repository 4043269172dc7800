/** What matches lack when they are committed: tokens, and the ends of their bodies. */
import type { DeliverySummary } from '@sluice/kit/contract';
import type { BlockRef } from '../blocks/contract.ts';

/** What a token contract says of itself. */
export interface Token {
  /** Lower case. */
  address: string;
  /** Empty where the contract does not say. */
  name: string;
  symbol: string;
  /** 0 to 255; null where the contract does not say. */
  decimals: number | null;
  /** As the contract declares it (ERC-165); empty where it declares neither. */
  standard: 'ERC721' | 'ERC1155' | '';
  /** Block it was read at. */
  blockNumber: number;
}

/** The end of a body as it is sent. */
export interface WholeBody {
  bodyTail: string;
  /** As in {@link NewMatch}; empty where it says what it said before. */
  about: string;
}

/** How the enrichment of a match ended. */
export type CompletedMatch = { matchId: string } & (
  | WholeBody
  /** Why it cannot be completed: its deliveries are quarantined with this reason. */
  | { setAside: string }
);

/** A match that waits for what must be read from the chain. */
export interface EnrichingMatch {
  id: string;
  streamId: string;
  block: BlockRef;
  bodyTail: string;
  /** Of all that is sent before the tail, at most. */
  bodyHeadBytes: number;
  /** As in {@link NewMatch}. */
  enrichment: string;
}

export interface EnrichReads {
  /** By chain, since when the oldest delivery of an active stream has waited for enrichment. */
  listEnrichingSince(): Promise<{ chain: string; since: number }[]>;
  /**
   * Matches of a chain that wait to be enriched, oldest first: at most `limit`, at most `perStream`
   * of each stream, none of the streams and matches named.
   */
  listEnriching(page: {
    chain: string;
    limit: number;
    perStream: number;
    notStreams: readonly string[];
    notMatches: readonly string[];
  }): Promise<EnrichingMatch[]>;
  /** What is known of these contracts, and when it was read, in Unix milliseconds. */
  readTokens(
    chain: string,
    addresses: readonly string[],
  ): Promise<{ token: Token; readAt: number }[]>;
}

export interface EnrichWrites {
  /** At most 500 at once. */
  saveTokens(chain: string, tokens: readonly Token[]): Promise<void>;
  /**
   * Completes the bodies of a chain's matches and makes their deliveries due, or sets matches aside. One
   * that is complete already, or whose block left the chain, stays as it is. Returns the deliveries it
   * changed; undefined, and nothing is written, when another process holds the chain's lease.
   */
  completeEnrichments(completed: {
    chain: string;
    epoch: number;
    completed: readonly CompletedMatch[];
  }): Promise<DeliverySummary[] | undefined>;
}
