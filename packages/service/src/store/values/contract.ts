/** The values on chain that streams read in the state of blocks. */
import type { BlockHeader, ConfirmedHeights, NewMatch } from '../blocks/contract.ts';

/** A committed block in whose state values are still to be read. */
export interface PendingState {
  chain: string;
  block: BlockHeader;
  /** Number of the block before it on its chain. */
  after: number;
  /** Number of blocks of the chain that are pending, including this one. */
  pending: number;
}

/** A value of a stream on one chain. */
export interface ReadRef {
  streamId: string;
  /** Key of the value. */
  key: string;
}

/** A run of consecutive blocks with the same result: a value as JSON, or an error. */
export interface ValueRun {
  from: number;
  to: number;
  /** Timestamp of block `to` in Unix seconds. */
  timestamp: number;
  value: string | null;
  error: string | null;
}

export interface KnownRead extends ReadRef {
  /** The newest run. */
  newest: ValueRun;
  /** The newest run with a value; undefined if there is none. */
  last: ValueRun | undefined;
}

/** The values of a stream around a block. */
export interface ValuesAt {
  /** The newest runs that begin before the block. */
  known: KnownRead[];
  /** The runs that begin in the block. */
  begun: (ReadRef & ValueRun)[];
  /** Whether the state of the block is still to be read. */
  isPending: boolean;
  /** The oldest block of the window: runs that end before it may have been deleted. */
  keptFrom: number | undefined;
}

/** The result of reading a value in a block: a value as JSON, or why the contract returned none. */
export interface ReadResult extends ReadRef {
  value: string | null;
  error: string | null;
  /** First block of the known run that this block continues; undefined if a new run begins. */
  continues: number | undefined;
}

export interface StateReading {
  chain: string;
  /** Epoch of the chain's lease. */
  epoch: number;
  state: PendingState;
  results: readonly ReadResult[];
  /** Values that their streams no longer read. */
  forgotten: readonly ReadRef[];
  /** Streams with values that no node has in the state of this block. */
  lacking: readonly string[];
  matches: readonly NewMatch[];
  /** The numbers of the newest confirmed blocks; undefined while unknown. */
  heights: ConfirmedHeights | undefined;
}

export interface ValueReads {
  /** Returns the lowest block of the chain in whose state values are to be read. */
  nextState(chain: string): Promise<PendingState | undefined>;
  /** Returns the number of blocks in whose state values are to be read, by chain. */
  countPendingStates(): Promise<Record<string, number>>;
  /** Returns the ids of the streams whose coverage includes this block. */
  listCovering(chain: string, blockNumber: number): Promise<string[]>;
  /** Returns the newest runs of all values of a chain. */
  listKnownReads(chain: string): Promise<KnownRead[]>;
  /** Returns what the ledger has about the values of a stream in the state of a block. */
  readValuesAt(chain: string, streamId: string, blockNumber: number): Promise<ValuesAt>;
}

export interface ValueWrites {
  /**
   * Commits the values of a block together with the matches that result, and ends its
   * pending state. Returns false if the block has left the chain, or another process has read it.
   */
  commitState(reading: StateReading): Promise<boolean>;
  /** Deletes some values of deleted streams; returns false if there are none. */
  cleanUpValues(): Promise<boolean>;
}
