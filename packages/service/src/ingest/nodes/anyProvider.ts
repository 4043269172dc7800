/** The interface that nodes of every chain family share. */
import type { ProviderHealth, ProviderState } from '@sluice/kit/contract';
import type { buildConnector } from 'undici';
import type { BlockHeader, FinalityTag } from '../../store/blocks/contract.ts';
import type { HeadLag } from './lag.ts';

/** Opens connections to a node, e.g. after checking its address. Default: undici's connector. */
export type Connect = buildConnector.connector | undefined;

export interface AnyProvider {
  readonly name: string;
  /** Score, roughly in milliseconds; lower is better. */
  readonly score: number;
  readonly state: ProviderState;
  /** The `performance.now` time at which the node's back-off ends; 0 if it is not backed off. */
  readonly restsUntil: number;
  /** Whether the node has a vote on the block at a height. */
  readonly hasVote: boolean;
  readHead(): Promise<BlockHeader>;
  /**
   * Reads the header of the block with this tag; undefined if the node has none. `aside` reads at
   * low priority.
   */
  readTagged(tag: FinalityTag, order?: 'aside'): Promise<BlockHeader | undefined>;
  /** Reads the header at this height; undefined if the node has none. */
  readHeaderAt(number: number): Promise<BlockHeader | undefined>;
  /** Reads the header with this hash; undefined if the node does not know it. */
  readHeaderOf(hash: string): Promise<BlockHeader | undefined>;
  /** Returns whether the node recently returned or mentioned this block. */
  knows(hash: string): boolean;
  /**
   * Reads which chain the node serves. The result is reused until an outage, or until `exclude` or
   * `forgetIdentity` is called.
   */
  identify(): Promise<Identity>;
  forgetIdentity(): void;
  /** Excludes the node because it serves a different chain. It is checked again periodically. */
  exclude(why: string): void;
  /**
   * Records that a response was rejected because a part was missing or contradicted another part.
   */
  fault(kind: 'missing' | 'inconsistent'): void;
  /** Records a disagreement about the block at a height, and whether this node was outvoted. */
  disagreed(outvoted: boolean): void;
  /** Records the node's distance to the best node, whose head was read at the same time. */
  compare(behind: HeadLag): void;
  health(): NodeHealth;
  close(): Promise<void>;
}

/** The health of one node; `providers.ts` adds `isPrimary` and `addedId`. */
export type NodeHealth = Omit<ProviderHealth, 'isPrimary' | 'addedId'>;

export interface Identity {
  /** Hash of block 0, or a chain id; undefined if the node no longer has block 0. */
  genesisHash: string | undefined;
}
