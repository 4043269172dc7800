import type { Hex } from 'viem';

/** A Move value as JSON, used in resources, events and arguments. */
export type MoveValue =
  | string
  | number
  | boolean
  | null
  | readonly MoveValue[]
  | { readonly [field: string]: MoveValue };

/**
 * A transaction as a fullnode's REST API returns it. Numbers of 64 bits and more are decimal
 * strings; addresses have no leading zeros (`toShortAddress`).
 */
export interface RestTransaction {
  readonly version: string;
  readonly hash: Hex;
  /** Such as `user_transaction`. Other fields depend on the type. */
  readonly type: string;
  readonly accumulator_root_hash: Hex;
  readonly changes: readonly RestChange[];
  readonly events?: readonly RestEvent[];
  readonly [field: string]: unknown;
}

export interface RestEvent {
  /** The account is 0x0 for module events, which have no handle. */
  guid: { creation_number: string; account_address: Hex };
  sequence_number: string;
  type: string;
  data: MoveValue;
}

export type RestChange =
  | {
      address: Hex;
      state_key_hash: Hex;
      data: { type: string; data: MoveValue };
      type: 'write_resource';
    }
  | { address: Hex; state_key_hash: Hex; resource: string; type: 'delete_resource' }
  | {
      state_key_hash: Hex;
      handle: Hex;
      key: Hex;
      value: Hex;
      data: null;
      type: 'write_table_item';
    };
