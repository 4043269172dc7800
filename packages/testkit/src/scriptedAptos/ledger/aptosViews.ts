import type { Hex } from 'viem';
import {
  aptCoinType,
  aptMetadata,
  primaryStoreOf,
  toLongAddress,
  toShortAddress as short,
} from './aptosAddress.ts';
import { toCanonicalType } from './aptosState.ts';
import type { AptosNodeView } from '../rest/aptosNodeView.ts';
import { resourceTypes } from './aptosResources.ts';
import { RestRefusal } from '../rest/restRefusal.ts';
import type { MoveValue } from '../rest/restShapes.ts';

/** The body of a request that calls a view function. */
export interface AptosViewCall {
  function: string;
  type_arguments?: readonly string[];
  arguments?: readonly unknown[];
}

/**
 * Evaluates a view function on the state after a version. Supports only the functions in `views`,
 * which read, for example, an asset's metadata, an object's owner or a store's balance.
 *
 * @throws RestRefusal for other functions, arguments that are not addresses, and missing resources.
 */
export function answerView(call: AptosViewCall, version: bigint, view: AptosNodeView): MoveValue[] {
  const known = views[toCanonicalType(call.function)];
  if (!known) {
    throw new RestRefusal(
      400,
      'invalid_input',
      `The scripted node does not support the view ${call.function}`,
    );
  }
  const [first, second] = call.arguments ?? [];
  const read = (address: string, type: string) =>
    view.ledger.readResource(address, type, version) as Fields | undefined;
  return [
    known({
      address: () => toAddress(first),
      secondAddress: () => toAddress(second),
      typeArgument: () => toCanonicalType(call.type_arguments?.[0] ?? ''),
      find: read,
      read: (address, type) => {
        const found = read(address, type);
        if (found) return found;
        const message = `VM Error: resource ${type} does not exist at ${short(address)}`;
        // 4008 is Move's status code for a missing resource.
        throw new RestRefusal(400, 'invalid_input', message, 4008);
      },
    }),
  ];
}

type Fields = Record<string, MoveValue>;

interface ViewInput {
  address(): Hex;
  secondAddress(): Hex;
  typeArgument(): string;
  find(address: string, type: string): Fields | undefined;
  /** @throws RestRefusal if the resource does not exist. */
  read(address: string, type: string): Fields;
}

const metadataField =
  (field: string) =>
  ({ address, read }: ViewInput): MoveValue =>
    read(address(), resourceTypes.fungibleAsset)[field] as MoveValue;

const coinField =
  (field: string) =>
  ({ typeArgument, read }: ViewInput): MoveValue => {
    const type = typeArgument();
    const [address = ''] = type.split('::');
    return read(address, `0x1::coin::CoinInfo<${type}>`)[field] as MoveValue;
  };

const ownerOf = ({ read }: ViewInput, object: string): string =>
  read(object, resourceTypes.object)['owner'] as string;

const primaryStore = ({ address, secondAddress }: ViewInput) =>
  primaryStoreOf(address(), secondAddress());

const balanceOf = ({ find }: ViewInput, store: string): MoveValue =>
  find(store, resourceTypes.fungibleStore)?.['balance'] ?? '0';

const views: Record<string, (input: ViewInput) => MoveValue> = {
  '0x1::chain_id::get': ({ read }) => read('0x1', '0x1::chain_id::ChainId')['id'] as MoveValue,
  '0x1::fungible_asset::name': metadataField('name'),
  '0x1::fungible_asset::symbol': metadataField('symbol'),
  '0x1::fungible_asset::decimals': metadataField('decimals'),
  '0x1::fungible_asset::icon_uri': metadataField('icon_uri'),
  '0x1::fungible_asset::project_uri': metadataField('project_uri'),
  '0x1::fungible_asset::store_metadata': ({ address, read }) =>
    read(address(), resourceTypes.fungibleStore)['metadata'] as MoveValue,
  '0x1::fungible_asset::store_exists': ({ address, find }) =>
    find(address(), resourceTypes.fungibleStore) !== undefined,
  '0x1::fungible_asset::balance': (input) => balanceOf(input, input.address()),
  '0x1::coin::name': coinField('name'),
  '0x1::coin::symbol': coinField('symbol'),
  '0x1::coin::decimals': coinField('decimals'),
  '0x1::coin::balance': ({ address, typeArgument, find }) => {
    const store = find(address(), `0x1::coin::CoinStore<${typeArgument()}>`);
    return (store?.['coin'] as Fields | undefined)?.['value'] ?? '0';
  },
  '0x1::coin::paired_metadata': ({ typeArgument }) => ({
    vec: typeArgument() === aptCoinType ? [{ inner: short(aptMetadata) }] : [],
  }),
  '0x1::object::owner': (input) => ownerOf(input, input.address()),
  '0x1::object::root_owner': (input) => {
    let owner = ownerOf(input, input.address());
    while (input.find(owner, resourceTypes.object)) owner = ownerOf(input, owner);
    return owner;
  },
  '0x1::primary_fungible_store::primary_store_address': (input) => short(primaryStore(input)),
  '0x1::primary_fungible_store::primary_store': (input) => ({ inner: short(primaryStore(input)) }),
  '0x1::primary_fungible_store::primary_store_exists': (input) =>
    input.find(primaryStore(input), resourceTypes.fungibleStore) !== undefined,
  '0x1::primary_fungible_store::balance': (input) => balanceOf(input, primaryStore(input)),
};

/** Parses an argument: an address, or an object in the form `{ inner: address }`. */
function toAddress(argument: unknown): Hex {
  const inner = (argument as { inner?: unknown } | undefined)?.inner ?? argument;
  try {
    return toLongAddress(String(inner));
  } catch {
    throw new RestRefusal(
      400,
      'invalid_input',
      `A view's argument must be an address, not ${JSON.stringify(argument)}`,
    );
  }
}
