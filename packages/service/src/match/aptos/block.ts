/**
 * One Aptos block as the matcher reads it. Addresses and types are spelled one way: `0x` and 64 hex
 * digits; what is sent on as the node gave it stands beside them.
 */

/** A JSON object as the node gave it. */
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
  /** Of the node's answer, near enough. */
  sizeBytes: number;
}

export interface AptosTransaction {
  version: number;
  hash: string;
  /** E.g. `user_transaction`. */
  type: string;
  success: boolean;
  /** Sender, secondary signers, fee payer and the multisig account they act for; the sender first. */
  signers: string[];
  /** On whose behalf it is: the multisig account, or the sender; empty for what nobody signed. */
  actor: string;
  /** Full id of the entry function, of a multisig payload the inner one; null where there is none. */
  function: string | null;
  /** Of that function. */
  typeArguments: string[];
  arguments: readonly unknown[];
  /** Decimal; 0 for what nobody signed. */
  gasLimit: string;
  gasUnitPrice: string;
  gasUsed: string;
  stateChangeHash: string;
  eventRootHash: string;
  events: AptosEvent[];
  /** Addresses of changed resources and modules, each once. */
  changed: string[];
  /** Stores that changed, or that a deposit or withdrawal names, as far as they are known. */
  stores: Map<string, AptosStore>;
  /** Of these, those whose owner or asset the transaction does not show: looked up before matching. */
  unknownStores: string[];
  /** Coin types of stores that changed, by the `account:creation number` of their event handles. */
  coinHandles: Map<string, string>;
  raw: AptosJson;
  /** Undefined for what nobody signed. */
  payload: AptosJson | undefined;
  changes: readonly AptosJson[];
}

export interface AptosEvent {
  /** With its generic arguments. */
  type: string;
  /** Of the guid; null for module events, which have none. */
  account: string | null;
  creationNumber: string;
  sequenceNumber: string;
  data: AptosJson;
  raw: AptosJson;
}

/** A fungible store. */
export interface AptosStore {
  owner: string;
  /** Address of the metadata of what it holds. */
  asset: string;
}
