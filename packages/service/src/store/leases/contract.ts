/** Leases on tasks that one process performs at a time, and the processes that read chains. */
import type { ChainHealth } from '@sluice/kit/contract';

/** A lease on a task that only one process performs at a time. Times are by the ledger's clock. */
export interface Lease {
  /** Name of the lease: the id of the chain that is read, `housekeeping` or `alerts`. */
  name: string;
  /** The process that last took the lease. */
  holder: string;
  /** Milliseconds since the lease became free; 0 while it is held. */
  freeForMs: number;
  /**
   * The last report about the chain; null if there is none, or if the task is not to read a chain.
   */
  report: ChainReport | null;
}

/** The state of a chain, as reported by the process that reads it. */
export type ChainReport = Omit<ChainHealth, 'blocks' | 'unverified'> & {
  /** Features that no node of this chain has: traces of blocks, or a safe or finalized block. */
  lacks: readonly ('traces' | 'safe' | 'finalized')[];
  /** Why values that streams read can't be read, by stream. */
  failingReads: Readonly<Record<string, string>>;
};

/** A process that reads chains. */
export interface Reader {
  /** Id of the reader, as in `holder` of its leases. */
  id: string;
  /** The chains that it can read now. */
  chains: readonly string[];
  /** Milliseconds since the reader joined, or joined again after its registration expired. */
  joinedForMs: number;
}

/** The readers, and the holder of each lease. */
export interface Sharing {
  readers: Reader[];
  /** Holders by lease name. Free leases are omitted. */
  holders: Map<string, string>;
}

export interface RenewedLease {
  name: string;
  epoch: number;
  report: ChainReport | null;
}

export interface LeaseReads {
  /** Returns all leases, including free ones, ordered by name. */
  listLeases(): Promise<Lease[]>;
  readSharing(): Promise<Sharing>;
}

export interface LeaseWrites {
  /**
   * Takes a lease for `forMs` if it is free or `force` is set. Returns an epoch that is higher than
   * all earlier ones of the lease; undefined if the lease is held.
   */
  takeLease(lease: {
    name: string;
    holder: string;
    forMs: number;
    force?: boolean | undefined;
  }): Promise<number | undefined>;
  /**
   * Extends leases to `forMs` from now, and stores their reports. Returns the names of the extended
   * leases. Leases that another process has taken are not extended.
   */
  renewLeases(leases: readonly RenewedLease[], forMs: number): Promise<string[]>;
  /** Ends the lease at once if it is still held with this epoch. */
  giveUpLease(lease: { name: string; epoch: number }): Promise<void>;
  /** Registers a reader, or extends its registration, for `forMs` from now. */
  joinReaders(reader: { id: string; chains: readonly string[]; forMs: number }): Promise<void>;
  leaveReaders(id: string): Promise<void>;
  /**
   * Ends all leases and removes all readers. Called at the start of a process that alone uses the
   * ledger, because all earlier processes have ended.
   */
  endLeases(): Promise<void>;
}
