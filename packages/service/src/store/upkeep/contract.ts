/** What keeps the ledger in order: leases, settings, retention, invariants, operator notices. */
import type { ChainHealth, StreamStatus } from '@sluice/kit/contract';

/** What of one thing is told to the operator, and was. */
export interface OperatorNoticeRow {
  /** `stream <id>`, `quarantine <streamId>` or `chain <id>`. */
  subject: string;
  /** How it is, as the next notice says or the last one said; empty while all is well. */
  state: string;
  /** The state that was told last; empty where none was, or that all is well. */
  told: string;
  id: string;
  /** What is to be sent; null once it was, or nothing is. */
  body: string | null;
  attempts: number;
  runAt: number;
  /** When a notice was sent last; null before the first. */
  sentAt: number | null;
}

export interface OperatorNoticeReads {
  /** What is in trouble by the ledger, and its time. */
  readTroubles(): Promise<{
    now: number;
    streams: { id: string; tag: string; status: StreamStatus; reason: string }[];
    /** By stream: how many deliveries are set aside, and the newest of them. */
    quarantined: {
      streamId: string;
      tag: string;
      count: number;
      deliveryId: string;
      reason: string;
    }[];
  }>;
  /** All there are, those due first. */
  listOperatorNotices(): Promise<OperatorNoticeRow[]>;
}

export interface OperatorNoticeWrites {
  saveOperatorNotice(notice: OperatorNoticeRow): Promise<void>;
  deleteOperatorNotice(subject: string): Promise<void>;
}

/** What one process at a time does; goes by the ledger's clock. */
export interface Lease {
  /** A chain's id: to read it. */
  name: string;
  /** The process that took it last, for people. */
  holder: string;
  /** Milliseconds since it is nobody's; 0 while somebody holds it. */
  freeForMs: number;
  /** What the holder last said; null before it did, and of what is no chain. */
  report: ChainReport | null;
}

/** How a chain is, as the process that reads it says. */
export type ChainReport = Omit<ChainHealth, 'blocks' | 'unverified'> & {
  /** It is known that no node of this chain traces blocks. */
  lacksTraces: boolean;
};

export interface LeaseReads {
  /** Every lease there ever was, by name. */
  listLeases(): Promise<Lease[]>;
}

export interface LeaseWrites {
  /**
   * Takes a lease that nobody holds, or with `force` one that somebody does, for so long. Answers with
   * its epoch, higher than all before; undefined while another holds it.
   */
  takeLease(lease: {
    name: string;
    holder: string;
    forMs: number;
    force?: boolean | undefined;
  }): Promise<number | undefined>;
  /** From now on for so long; false when another has taken it. */
  renewLease(lease: {
    name: string;
    epoch: number;
    forMs: number;
    report: ChainReport | null;
  }): Promise<boolean>;
  /** Ends it at once, where it is still held with this epoch. */
  giveUpLease(lease: { name: string; epoch: number }): Promise<void>;
  /** Ends all of them at once: of a ledger that one process owns, whose holders before are gone. */
  endLeases(): Promise<void>;
}

/** What is looked at, each for itself. */
export const INVARIANTS = ['chains', 'leases', 'matches', 'deliveries', 'totals'] as const;

export type Invariant = (typeof INVARIANTS)[number];

/** How the ledger can contradict itself. */
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
  /** The chain, block, match, delivery or stream it is found in. */
  subject: string;
  /** For people. */
  what: string;
}

export interface InvariantLook {
  /** Nothing younger is ever forgotten by retention. */
  keptMs: number;
  /** Where the look before ended; undefined at the beginning of a walk. */
  after: string | undefined;
  /** Ids to look at once more. */
  again: readonly string[];
}

export interface InvariantReads {
  /** A bounded look; `next` is undefined when the walk has come to its end. */
  findViolations(
    invariant: Invariant,
    look: InvariantLook,
  ): Promise<{ violations: Violation[]; next: string | undefined }>;
}

/** How long deliveries are kept that succeeded or were cancelled, and how long all others. */
export interface RetentionAges {
  deliveredMs: number;
  undeliveredMs: number;
}

/** The setting that says when old deliveries are forgotten next; Unix milliseconds of the ledger's clock. */
export const NEXT_SWEEP = 'nextSweepAt';

export interface RetentionReads {
  /**
   * Deliveries that are old enough to be forgotten at this time of the ledger's clock, and the bytes of
   * their bodies as they were sent; of the 100,000 oldest alone where it says so.
   */
  countExpiring(
    asked: RetentionAges & { atMs: number },
  ): Promise<{ deliveries: number; bodyBytes: number; isCapped: boolean }>;
}

export interface RetentionWrites {
  /**
   * Looks at the oldest deliveries and matches after this id, `''` for the first, a few at a time until
   * `forMs` are over, and forgets those deliveries that are older than they may be, with their attempts,
   * and matches that have none left. `undelivered` of them had not ended; `next` is undefined when no
   * more are old enough.
   */
  deleteExpired(
    rule: RetentionAges & { forMs: number; after: string },
  ): Promise<{ deliveries: number; undelivered: number; next: string | undefined }>;
  /**
   * Makes partitions for the days to come, drops those in which nothing must be kept, and empties
   * others but for the little that must. Answers with their names. Does nothing on SQLite.
   */
  tendPartitions(ages: RetentionAges): Promise<{ dropped: string[]; shrunk: string[] }>;
}

export interface ServerReads {
  /** Commits that have waited for a standby of PostgreSQL for 2 s and more. */
  countWaitingCommits(): Promise<number>;
  /**
   * Milliseconds since the oldest transaction began that keeps the database from cleaning up; null where
   * the engine has no such thing.
   */
  readOldestTransactionAge(): Promise<number | null>;
}

export interface SettingReads {
  readSetting(key: string): Promise<string | undefined>;
}

export interface SettingWrites {
  saveSetting(key: string, value: string): Promise<void>;
  /** Where there is none yet; answers with the one there is. */
  keepSetting(key: string, value: string): Promise<string>;
  /** Writes what nobody reads: rejects when the ledger cannot be written. */
  checkWritable(): Promise<void>;
}
