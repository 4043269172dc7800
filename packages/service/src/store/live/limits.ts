/** Limits of what the ledger stores, from the settings of the operator. */
export interface LedgerLimits {
  /** Maximum number of children of factories per stream. */
  maxChildren: number;
}

/** The limits of a ledger without settings: none. */
export const DEFAULT_LEDGER_LIMITS: LedgerLimits = { maxChildren: Number.POSITIVE_INFINITY };
