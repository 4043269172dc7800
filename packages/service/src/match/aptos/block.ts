/**
 * An Aptos block in the matcher's form. Addresses and types are normalized: `0x` and 64 hex digits.
 * Values that are sent on keep the node's form in separate fields.
 */

/** A JSON object as the node returned it. */
export type AptosJson = Readonly<Record<string, unknown>>;

export interface AptosBlock {
  /** Height. */
  number: number;
  hash: string;
  parentHash: string;
  /** Unix seconds. */
  timestamp: number;
  /** Unix microseconds, decimal. */
  timestampMicros: string;
  firstVersion: number;
  lastVersion: number;
  /** Every transaction of the block, in version order. */
  transactions: AptosTransaction[];
  /** Approximate size of the node's response. */
  sizeBytes: number;
}

export interface AptosTransaction {
  version: number;
  hash: string;
  /** Such as `user_transaction`. */
  type: string;
  success: boolean;
  /** Sender, secondary signers, fee payer and the multisig account they act for; the sender first. */
  signers: string[];
  /** The account on whose behalf it runs: the multisig account or the sender; empty if unsigned. */
  actor: string;
  /** Full id of the entry function, for a multisig payload the inner one; null if none. */
  function: string | null;
  /** Type arguments of that function. */
  typeArguments: string[];
  arguments: readonly unknown[];
  /** Decimal; 0 for unsigned transactions. */
  gasLimit: string;
  gasUnitPrice: string;
  gasUsed: string;
  stateChangeHash: string;
  eventRootHash: string;
  events: AptosEvent[];
  /** Addresses of changed resources and modules, each once. */
  changed: string[];
  /** Known stores that changed, or that a deposit or withdrawal refers to. */
  stores: Map<string, AptosStore>;
  /**
   * Stores whose owner or asset the transaction does not show; they are looked up before matching.
   */
  unknownStores: string[];
  /** Coin types of changed stores, by the `account:creation number` of their event handles. */
  coinHandles: Map<string, string>;
  raw: AptosJson;
  /** Undefined for unsigned transactions. */
  payload: AptosJson | undefined;
  changes: readonly AptosJson[];
}

export interface AptosEvent {
  /** Includes generic arguments. */
  type: string;
  /** From the guid; null for module events, which have none. */
  account: string | null;
  creationNumber: string;
  sequenceNumber: string;
  data: AptosJson;
  raw: AptosJson;
}

/** A fungible store. */
export interface AptosStore {
  owner: string;
  /** Metadata address of the asset that it holds. */
  asset: string;
}
