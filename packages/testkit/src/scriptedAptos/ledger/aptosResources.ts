import type { Hex } from 'viem';
import { toLongAddress, toShortAddress as short } from './aptosAddress.ts';

export interface AptosFungibleAsset {
  name: string;
  symbol: string;
  decimals: number;
}

/** Types of framework resources that several modules use. */
export const resourceTypes = {
  account: '0x1::account::Account',
  /** An address with this resource is an object. The resource contains the object's owner. */
  object: '0x1::object::ObjectCore',
  fungibleStore: '0x1::fungible_asset::FungibleStore',
} as const;

/** First creation number of an object's event handles. The numbers of an account start at 0. */
const firstObjectCreationNumber = 1_125_899_906_842_624n;

/** Returns a Move `EventHandle`, which identifies the events of one type of an account or object. */
export function toHandle(owner: string, creationNumber: bigint) {
  return {
    counter: '0',
    guid: { id: { addr: short(owner), creation_num: String(creationNumber) } },
  };
}

export function newAccount(address: Hex, sequenceNumber: bigint) {
  return {
    authentication_key: toLongAddress(address),
    coin_register_events: toHandle(address, 0n),
    guid_creation_num: '2',
    key_rotation_events: toHandle(address, 1n),
    rotation_capability_offer: { for: { vec: [] } },
    sequence_number: String(sequenceNumber),
    signer_capability_offer: { for: { vec: [] } },
  };
}

export function newObject(address: Hex, owner: Hex, allowsTransfer: boolean) {
  return {
    allow_ungated_transfer: allowsTransfer,
    guid_creation_num: String(firstObjectCreationNumber + 1n),
    owner: short(owner),
    transfer_events: toHandle(address, firstObjectCreationNumber),
  };
}

/** Returns the resources of a fungible asset's metadata object. */
export function assetResources({ name, symbol, decimals }: AptosFungibleAsset) {
  return {
    '0x1::fungible_asset::ConcurrentSupply': {
      current: { max_value: '340282366920938463463374607431768211455', value: '0' },
    },
    '0x1::fungible_asset::Metadata': { decimals, icon_uri: '', name, project_uri: '', symbol },
  };
}

/** Returns the resource with the name and decimals of a legacy coin. */
export function coinInfo({ name, symbol, decimals }: AptosFungibleAsset) {
  const supply = { aggregator: { vec: [] }, integer: { vec: [{ limit: '1', value: '0' }] } };
  return { decimals, name, supply: { vec: [supply] }, symbol };
}

/** Returns the resources of a token, in addition to its object. */
export function tokenResources(collection: Hex, token: Hex, name: string) {
  return {
    '0x4::token::Token': {
      collection: { inner: short(collection) },
      description: `A token named ${name}`,
      index: '0',
      mutation_events: toHandle(token, firstObjectCreationNumber + 1n),
      name: '',
      uri: `https://tokens.example/${encodeURIComponent(name)}`,
    },
    '0x4::token::TokenIdentifiers': { index: { value: '1' }, name: { padding: '0x', value: name } },
  };
}
