import { toLongAddress, toShortAddress as short } from './aptosAddress.ts';
import type { MoveValue } from '../rest/restShapes.ts';

/** Types of framework resources that several modules use. */
export const resourceTypes = {
  account: '0x1::account::Account',
  /** An address with this resource is an object. The resource contains the object's owner. */
  object: '0x1::object::ObjectCore',
  fungibleStore: '0x1::fungible_asset::FungibleStore',
  fungibleAsset: '0x1::fungible_asset::Metadata',
  supply: '0x1::fungible_asset::ConcurrentSupply',
} as const;

/** First creation number of an object's event handles. The numbers of an account start at 0. */
const firstObjectCreationNumber = 1_125_899_906_842_624n;

interface Resource {
  readonly [field: string]: MoveValue;
}

export interface AptosAccount extends Resource {
  readonly authentication_key: string;
  readonly guid_creation_num: string;
  readonly sequence_number: string;
}

export interface AptosObject extends Resource {
  readonly owner: string;
  readonly transfer_events: EventHandle;
}

export interface FungibleStore extends Resource {
  readonly balance: string;
  readonly metadata: { readonly inner: string };
}

export interface FungibleSupply extends Resource {
  readonly current: { readonly max_value: string; readonly value: string };
}

export interface CoinStore extends Resource {
  readonly coin: { readonly value: string };
  readonly deposit_events: EventHandle;
  readonly withdraw_events: EventHandle;
}

/** Move's `EventHandle`, which counts the events of one type that an account or object emits. */
export type EventHandle = ReturnType<typeof toHandle>;

export function toHandle(owner: string, creationNumber: bigint, counter = '0') {
  return {
    counter,
    guid: { id: { addr: short(owner), creation_num: String(creationNumber) } },
  };
}

export function newAccount(address: string): AptosAccount {
  return {
    authentication_key: toLongAddress(address),
    coin_register_events: toHandle(address, 0n),
    guid_creation_num: '2',
    key_rotation_events: toHandle(address, 1n),
    rotation_capability_offer: { for: { vec: [] } },
    sequence_number: '0',
    signer_capability_offer: { for: { vec: [] } },
  };
}

export function newObject(address: string, owner: string, allowsTransfer: boolean): AptosObject {
  return {
    allow_ungated_transfer: allowsTransfer,
    guid_creation_num: String(firstObjectCreationNumber + 1n),
    owner: short(owner),
    transfer_events: toHandle(address, firstObjectCreationNumber),
  };
}
