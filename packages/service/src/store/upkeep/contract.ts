/** Maintenance of the ledger: leases, settings, retention, integrity checks and alerts. */
import type { ChainHealth, StreamStatus } from '@sluice/kit/contract';

/** The alert about a subject: the next one to send, and the last one that was sent. */
export interface AlertRow {
  /** Subject: `stream <id>`, `quarantine <streamId>` or `chain <id>`. */
  subject: string;
  /** The state reported by the next or the last alert; empty if there is no problem. */
  state: string;
  /** Last reported state; empty before the first report and after a recovery. */
  reported: string;
  id: string;
  /** Body to send; null after it was sent, or if there is none. */
  body: string | null;
  attempts: number;
  runAt: number;
  /** Time of the last alert; null before the first one. */
  sentAt: number | null;
}

export interface AlertReads {
  /** Current problems according to the ledger, and its time. */
  readProblems(): Promise<{
    now: number;
    streams: { id: string; tag: string; status: StreamStatus; reason: string }[];
    /** Number of quarantined deliveries per stream, and the newest one. */
    quarantined: {
      streamId: string;
      tag: string;
      count: number;
      deliveryId: string;
      reason: string;
    }[];
  }>;
  /** Lists all alerts, due ones first. */
  listAlerts(): Promise<AlertRow[]>;
}

export interface AlertWrites {
  saveAlert(alert: AlertRow): Promise<void>;
  deleteAlert(subject: string): Promise<void>;
}

/** A lease on a task that one process at a time performs, by the ledger's clock. */
export interface Lease {
  /** Name of the lease: the id of the chain that is read. */
  name: string;
  /** The process that took it last. */
  holder: string;
  /** Milliseconds since it became free; 0 while it is held. */
  freeForMs: number;
  /** The holder's last report; null if there is none, or if the task is not a chain. */
  report: ChainReport | null;
}

/** The state of a chain, as reported by the process that reads it. */
export type ChainReport = Omit<ChainHealth, 'blocks' | 'unverified'> & {
  /** Whether no node of this chain is known to trace blocks. */
  lacksTraces: boolean;
};

/** A process that reads chains. */
export interface Reader {
  /** The holder of its leases. */
  id: string;
  /** The chains that it can read now. */
  chains: readonly string[];
  /** Milliseconds since it joined; it joins again after an interruption. */
  joinedForMs: number;
}

/** The readers, and which process holds each chain. */
export interface Sharing {
  readers: Reader[];
  /** Holders by lease; free leases are omitted. */
  holders: Map<string, string>;
}

export interface RenewedLease {
  name: string;
  epoch: number;
  report: ChainReport | null;
}

export interface LeaseReads {
  /** Returns all leases that ever existed, by name. */
  listLeases(): Promise<Lease[]>;
  readSharing(): Promise<Sharing>;
}

export interface LeaseWrites {
  /**
   * Takes a free lease, or with `force` a held one, for `forMs`. Returns its epoch, which is higher
   * than all earlier ones; undefined if another process holds it.
   */
  takeLease(lease: {
    name: string;
    holder: string;
    forMs: number;
    force?: boolean | undefined;
  }): Promise<number | undefined>;
  /** Extends leases by `forMs` from now; omits the names of those that another process has taken. */
  renewLeases(leases: readonly RenewedLease[], forMs: number): Promise<string[]>;
  /** Ends the lease at once if it is still held with this epoch. */
  giveUpLease(lease: { name: string; epoch: number }): Promise<void>;
  /** Lists a reader for `forMs` from now. */
  joinReaders(reader: { id: string; chains: readonly string[]; forMs: number }): Promise<void>;
  leaveReaders(id: string): Promise<void>;
  /**
   * Ends all leases and readers of a ledger that one process owns, because their previous holders
   * are gone.
   */
  endLeases(): Promise<void>;
}

/** The integrity checks, which run separately. */
export const INVARIANTS = ['chains', 'leases', 'matches', 'deliveries', 'totals'] as const;

export type Invariant = (typeof INVARIANTS)[number];

/** The kinds of integrity violations. */
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
  /** A description for people. */
  what: string;
}

export interface InvariantScan {
  /** Rows younger than this are never deleted by retention. */
  keptMs: number;
  /** End of the previous check; undefined to start over. */
  after: string | undefined;
  /** Ids to check again. */
  again: readonly string[];
}

export interface InvariantReads {
  /** Checks a limited number of rows; `next` is undefined after the last ones. */
  findViolations(
    invariant: Invariant,
    look: InvariantScan,
  ): Promise<{ violations: Violation[]; next: string | undefined }>;
}

/** Retention of deliveries that succeeded or were canceled, and of all others. */
export interface RetentionAges {
  deliveredMs: number;
  undeliveredMs: number;
}

/**
 * The setting with the time of the next retention sweep, in Unix milliseconds of the ledger's
 * clock.
 */
export const NEXT_SWEEP = 'nextSweepAt';

export interface RetentionReads {
  /**
   * Counts deliveries that will be old enough to be deleted at this time of the ledger's clock, and
   * the bytes of their bodies; if `isCapped`, only among the 100,000 oldest.
   */
  countExpiring(
    asked: RetentionAges & { atMs: number },
  ): Promise<{ deliveries: number; bodyBytes: number; isCapped: boolean }>;
}

export interface RetentionWrites {
  /**
   * Deletes expired deliveries with their attempts, and matches without deliveries, after this id
   * (`''` for the first), for about `forMs`. `undelivered` counts deliveries that had not ended;
   * `next` is undefined if no more have expired.
   */
  deleteExpired(
    rule: RetentionAges & { forMs: number; after: string },
  ): Promise<{ deliveries: number; undelivered: number; next: string | undefined }>;
  /**
   * Creates partitions for the coming days, drops old ones without rows to keep, and empties old
   * ones with only a few; does nothing on SQLite. Returns their names.
   */
  tendPartitions(ages: RetentionAges): Promise<{ dropped: string[]; shrunk: string[] }>;
}

export interface ServerReads {
  /** Commits that have waited for a PostgreSQL standby for at least 2 s. */
  countWaitingCommits(): Promise<number>;
  /**
   * Age in milliseconds of the oldest transaction that keeps the database from cleaning up; null on
   * engines without this problem.
   */
  readOldestTransactionAge(): Promise<number | null>;
}

export interface SettingReads {
  readSetting(key: string): Promise<string | undefined>;
}

export interface SettingWrites {
  saveSetting(key: string, value: string): Promise<void>;
  /** Stores the value if there is none yet; returns the stored value. */
  keepSetting(key: string, value: string): Promise<string>;
  /** Writes an unused value; rejects if the ledger cannot be written. */
  checkWritable(): Promise<void>;
}
