/** Limits of what the ledger stores, from the settings of the operator. */
export interface LedgerLimits {
  /** Maximum number of children of factories per stream. */
  maxChildren: number;
}

export const DEFAULT_LEDGER_LIMITS: LedgerLimits = { maxChildren: 10_000_000 };
