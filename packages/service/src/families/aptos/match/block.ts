/**
 * An Aptos block in the matcher's form. Addresses, including those inside types, are normalized to
 * `0x` and 64 hex digits. Values for webhooks are kept in separate fields, as the node returned
 * them.
 */

/** A JSON object as the node returned it. */
export type AptosJson = Readonly<Record<string, unknown>>;

export interface AptosBlock {
  /** Height. */
  number: number;
  hash: string;
  parentHash: string;
  /** Unix time in seconds. */
  timestamp: number;
  /** Unix time in microseconds, as a decimal string. */
  timestampMicros: string;
  firstVersion: number;
  lastVersion: number;
  /** Every transaction of the block, in version order. */
  transactions: AptosTransaction[];
  /** Estimated memory size, from the sizes of the node's responses. */
  sizeBytes: number;
}

export interface AptosTransaction {
  version: number;
  hash: string;
  /** Type, such as `user_transaction`. */
  type: string;
  success: boolean;
  /**
   * The sender, secondary signers, fee payer, and the multisig account that they act for, without
   * duplicates. The sender is first.
   */
  signers: string[];
  /**
   * The account that the transaction acts for: the multisig account or the sender; an empty string
   * for unsigned transactions.
   */
  actor: string;
  /**
   * Full id of the entry function, or of the inner function of a multisig or decrypted payload; null
   * if there is none.
   */
  function: string | null;
  /** Type arguments of `function`. */
  typeArguments: string[];
  arguments: readonly unknown[];
  /**
   * Maximum gas as a decimal string; `0` for unsigned transactions. `gasUnitPrice` and `gasUsed`
   * have the same form.
   */
  gasLimit: string;
  gasUnitPrice: string;
  gasUsed: string;
  stateChangeHash: string;
  eventRootHash: string;
  events: AptosEvent[];
  /** Unique addresses of changed resources and modules. */
  changed: string[];
  /**
   * Fungible stores with a known asset, by address: those that the transaction changed or deleted,
   * or that a deposit or withdrawal refers to.
   */
  stores: Map<string, AptosStore>;
  /**
   * Addresses of fungible stores whose owner or asset is not in the transaction. They are looked up
   * before matching, and added to `stores`.
   */
  unknownStores: string[];
  /**
   * Coin types of changed or deleted coin stores, by the `account:creation number` of their event
   * handles.
   */
  coinHandles: Map<string, string>;
  raw: AptosJson;
  /**
   * Payload of the transaction, as the node returned it; undefined for unsigned transactions, and
   * for a payload that the transaction stream does not contain.
   */
  payload: AptosJson | undefined;
  changes: readonly AptosJson[];
}

export interface AptosEvent {
  /** Event type, including generic arguments. */
  type: string;
  /** Account from the guid; null for module events, which have no account. */
  account: string | null;
  creationNumber: string;
  sequenceNumber: string;
  data: AptosJson;
  raw: AptosJson;
}

/** The owner and asset of a fungible store. */
export interface AptosStore {
  /** The store's own address if the owner is unknown. */
  owner: string;
  /** Metadata address of the asset. */
  asset: string;
}
