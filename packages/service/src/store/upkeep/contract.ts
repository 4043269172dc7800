/** Maintenance of the ledger: leases, settings, retention, integrity checks and alerts. */
import type { ChainHealth, StreamStatus } from '@sluice/kit/contract';

/** The alert about one subject: the next one to send, and the last one sent. */
export interface AlertRow {
  /** `stream <id>`, `quarantine <streamId>` or `chain <id>`. */
  subject: string;
  /** The state reported by the next or the last alert; empty if there is no problem. */
  state: string;
  /** The state reported last; empty if none was, or a recovery was. */
  reported: string;
  id: string;
  /** The body to send; null once it was sent, or if there is none. */
  body: string | null;
  attempts: number;
  runAt: number;
  /** When an alert was last sent; null before the first. */
  sentAt: number | null;
}

export interface AlertReads {
  /** Current problems according to the ledger, and its time. */
  readProblems(): Promise<{
    now: number;
    streams: { id: string; tag: string; status: StreamStatus; reason: string }[];
    /** The number of quarantined deliveries per stream, and the newest of them. */
    quarantined: {
      streamId: string;
      tag: string;
      count: number;
      deliveryId: string;
      reason: string;
    }[];
  }>;
  /** All alerts, those due first. */
  listAlerts(): Promise<AlertRow[]>;
}

export interface AlertWrites {
  saveAlert(alert: AlertRow): Promise<void>;
  deleteAlert(subject: string): Promise<void>;
}

/** A lease on a task that one process at a time performs, by the ledger's clock. */
export interface Lease {
  /** The id of a chain, for reading it. */
  name: string;
  /** The process that took it last, for display. */
  holder: string;
  /** Milliseconds since it became free; 0 while it is held. */
  freeForMs: number;
  /** The holder's last report; null if there is none, or if the task is not a chain. */
  report: ChainReport | null;
}

/** The state of a chain, as reported by the process that reads it. */
export type ChainReport = Omit<ChainHealth, 'blocks' | 'unverified'> & {
  /** Whether no node of this chain can trace blocks, as far as is known. */
  lacksTraces: boolean;
};

export interface LeaseReads {
  /** All leases that ever existed, by name. */
  listLeases(): Promise<Lease[]>;
}

export interface LeaseWrites {
  /**
   * Takes a free lease, or with `force` a held one, for `forMs`. Returns its epoch, which is higher
   * than all before; undefined if another process holds it.
   */
  takeLease(lease: {
    name: string;
    holder: string;
    forMs: number;
    force?: boolean | undefined;
  }): Promise<number | undefined>;
  /** Extends it by `forMs` from now; false if another process has taken it. */
  renewLease(lease: {
    name: string;
    epoch: number;
    forMs: number;
    report: ChainReport | null;
  }): Promise<boolean>;
  /** Ends it at once if it is still held with this epoch. */
  giveUpLease(lease: { name: string; epoch: number }): Promise<void>;
  /** Ends all leases of a ledger that one process owns: their previous holders are gone. */
  endLeases(): Promise<void>;
}

/** The integrity checks, each of which runs on its own. */
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
  /** Where the previous check ended; undefined to start over. */
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

/** How long deliveries are kept: those that succeeded or were cancelled, and all others. */
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
   * Goes through the oldest deliveries and matches after this id, `''` for the first, a few at a
   * time for about `forMs`. Deletes expired deliveries with their attempts, and matches without
   * deliveries. `undelivered` counts those that had not ended; `next` is undefined when no more
   * have expired.
   */
  deleteExpired(
    rule: RetentionAges & { forMs: number; after: string },
  ): Promise<{ deliveries: number; undelivered: number; next: string | undefined }>;
  /**
   * Creates partitions for the coming days, drops those in which nothing has to be kept, and
   * empties others except for the few rows to keep. Returns their names. Does nothing on SQLite.
   */
  tendPartitions(ages: RetentionAges): Promise<{ dropped: string[]; shrunk: string[] }>;
}

export interface ServerReads {
  /** Commits that have waited for a PostgreSQL standby for at least 2 s. */
  countWaitingCommits(): Promise<number>;
  /**
   * Milliseconds since the oldest transaction began that keeps the database from cleaning up; null
   * on engines without this problem.
   */
  readOldestTransactionAge(): Promise<number | null>;
}

export interface SettingReads {
  readSetting(key: string): Promise<string | undefined>;
}

export interface SettingWrites {
  saveSetting(key: string, value: string): Promise<void>;
  /** Stores the value if there is none yet; returns the stored one. */
  keepSetting(key: string, value: string): Promise<string>;
  /** Writes an unused value: rejects when the ledger cannot be written. */
  checkWritable(): Promise<void>;
}
