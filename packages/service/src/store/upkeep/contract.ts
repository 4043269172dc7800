/** Maintenance of the ledger: alerts, added URLs, leases, integrity checks, retention and settings. */
import type { ChainHealth, StreamStatus } from '@sluice/kit/contract';
import type { RetentionAges } from '../engine/engine.ts';

/** The alert to a receiver about a subject: the next one to send, or the last one that was sent. */
export interface AlertRow {
  /** Id of the added URL; empty for the configured URL. */
  receiver: string;
  /** Subject of the alert: `stream <id>`, `quarantine <streamId>`, `chain <id>` or `disk`. */
  subject: string;
  /** The current state of the subject; empty if it has no problem. */
  state: string;
  /**
   * The state in the last alert that was delivered; empty before the first one and after a
   * recovery.
   */
  reported: string;
  id: string;
  /** The body to send; null if no alert is waiting to be sent. */
  body: string | null;
  attempts: number;
  runAt: number;
  /** Time at which the last alert was sent or dropped; null before the first one. */
  sentAt: number | null;
}

export interface AlertReads {
  /** Returns the current problems of streams and deliveries, and the time by the ledger's clock. */
  readProblems(): Promise<{
    now: number;
    streams: { id: string; tag: string; status: StreamStatus; reason: string }[];
    /**
     * For each stream with quarantined deliveries: their number, and the id and the reason of the
     * newest one.
     */
    quarantined: {
      streamId: string;
      tag: string;
      count: number;
      deliveryId: string;
      reason: string;
    }[];
  }>;
  /** Lists the alerts to a receiver, ordered by `runAt`. */
  listAlerts(receiver: string): Promise<AlertRow[]>;
}

export interface AlertWrites {
  saveAlert(alert: AlertRow): Promise<void>;
  deleteAlert(alert: Pick<AlertRow, 'receiver' | 'subject'>): Promise<void>;
}

/** The URL of a node or an alert receiver that was added while the service ran. */
export interface AddedUrl {
  id: string;
  /** The chain of the node; null for an alert receiver. */
  chain: string | null;
  /** The URL, encrypted by `vault.ts`. */
  sealed: string;
  createdAt: number;
}

export interface AddedUrlReads {
  /** Lists all added URLs, oldest first. */
  listAddedUrls(): Promise<AddedUrl[]>;
}

export interface AddedUrlWrites {
  /**
   * Adds a URL if the ids of all added URLs still equal `existing`; otherwise returns undefined.
   * The caller can thus check the existing URLs first.
   */
  addUrl(
    added: Omit<AddedUrl, 'createdAt'>,
    existing: readonly string[],
  ): Promise<AddedUrl | undefined>;
  /** Removes a URL and the alerts to it; returns false if it is unknown. */
  removeUrl(id: string): Promise<boolean>;
  /** Replaces the encrypted text of a URL, if it still exists. */
  resealUrl(added: Pick<AddedUrl, 'id' | 'sealed'>): Promise<void>;
}

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
  /** Whether it is known that no node of this chain traces blocks. */
  lacksTraces: boolean;
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

/** The integrity checks, which run separately. */
export const INVARIANTS = ['chains', 'leases', 'matches', 'deliveries', 'totals'] as const;

export type Invariant = (typeof INVARIANTS)[number];

export const VIOLATIONS = [
  'checkpoint_off_window',
  'block_without_matches',
  'match_without_delivery',
  'illegal_delivery',
  'attempts_miscounted',
  'totals_miscounted',
  'lease_out_of_bounds',
] as const;

export type ViolationKind = (typeof VIOLATIONS)[number];

export interface Violation {
  kind: ViolationKind;
  /** The chain, block, match, delivery or stream with the violation. */
  subject: string;
  /** Description of the violation. */
  what: string;
}

export interface InvariantScan {
  /** Milliseconds for which retention keeps all rows. */
  keptMs: number;
  /** The `next` of the previous check; undefined to start over. */
  after: string | undefined;
  /** Ids to check again, because of earlier violations. */
  again: readonly string[];
}

export interface InvariantReads {
  /** Runs a check on a limited number of rows. `next` is undefined after the last rows. */
  findViolations(
    invariant: Invariant,
    look: InvariantScan,
  ): Promise<{ violations: Violation[]; next: string | undefined }>;
}

/**
 * Setting with the time of the next retention sweep, in Unix milliseconds by the ledger's clock.
 */
export const NEXT_SWEEP = 'nextSweepAt';

export interface RetentionReads {
  /**
   * Counts the deliveries that retention would delete at `atMs` (by the ledger's clock), and the
   * bytes of their bodies. With `isCapped`, only the 100,000 oldest deliveries were examined.
   */
  countExpiring(
    asked: RetentionAges & { atMs: number },
  ): Promise<{ deliveries: number; bodyBytes: number; isCapped: boolean }>;
}

export interface RetentionWrites {
  /**
   * Deletes expired deliveries with their attempts, and old matches without deliveries, for about
   * `forMs`. Starts after the id `after`: `''` on the first call, then the last `next`.
   * `undelivered` is the number of deleted deliveries that had not ended; `next` is undefined if no
   * more have expired.
   */
  deleteExpired(
    rule: RetentionAges & { forMs: number; after: string },
  ): Promise<{ deliveries: number; undelivered: number; next: string | undefined }>;
}

export interface SettingReads {
  readSetting(key: string): Promise<string | undefined>;
}

export interface SettingWrites {
  saveSetting(key: string, value: string): Promise<void>;
  /** Stores the value unless the setting already has one. Returns the stored value. */
  keepSetting(key: string, value: string): Promise<string>;
  /**
   * Replaces a setting if its value still equals `before`, which is undefined if the setting must
   * not exist yet. Returns whether it was replaced.
   */
  replaceSetting(key: string, before: string | undefined, value: string): Promise<boolean>;
  /** Writes an unused setting, as a check. Rejects if the ledger cannot be written to. */
  checkWritable(): Promise<void>;
}
