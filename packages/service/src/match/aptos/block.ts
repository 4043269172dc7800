/**
 * An Aptos block in the matcher's form, with normalized addresses and types: `0x` and 64 hex
 * digits. Values that webhooks contain keep the node's form in separate fields.
 */

/** A JSON object as the node returned it. */
export type AptosJson = Readonly<Record<string, unknown>>;

export interface AptosBlock {
  /** Height. */
  number: number;
  hash: string;
  parentHash: string;
  /** Time in Unix seconds. */
  timestamp: number;
  /** Time in Unix microseconds, decimal. */
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
  /** Type, such as `user_transaction`. */
  type: string;
  success: boolean;
  /**
   * Sender, secondary signers, fee payer and the multisig account that they act for; the sender
   * comes first.
   */
  signers: string[];
  /**
   * The account that the transaction acts for: the multisig account or the sender; empty if
   * unsigned.
   */
  actor: string;
  /** Full id of the entry function; for a multisig payload, of the inner one; null if none. */
  function: string | null;
  /** Type arguments of that function. */
  typeArguments: string[];
  arguments: readonly unknown[];
  /** Decimal number; 0 for unsigned transactions. */
  gasLimit: string;
  gasUnitPrice: string;
  gasUsed: string;
  stateChangeHash: string;
  eventRootHash: string;
  events: AptosEvent[];
  /** Unique addresses of changed resources and modules. */
  changed: string[];
  /** Known stores that changed, or that a deposit or withdrawal refers to. */
  stores: Map<string, AptosStore>;
  /**
   * Stores with an owner or asset that the transaction does not show. They are looked up before
   * matching.
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
  /** Event type, including generic arguments. */
  type: string;
  /** Account from the guid; null for module events, which have no guid. */
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
