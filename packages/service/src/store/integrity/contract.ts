/** Checks of rules that the rows of the ledger always obey. */

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
