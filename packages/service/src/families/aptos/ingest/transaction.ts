/** Converts a transaction in the form of the Aptos REST API (v1) to the matcher's form. */
import type { AptosEvent, AptosJson, AptosStore, AptosTransaction } from '../match/block.ts';
import { toAccount, normalizeType } from '../match/moveNames.ts';
import { showValue } from '../../../ingest/json.ts';
import { SourceError } from '../../../ingest/source.ts';

const FRAMEWORK = toAccount('0x1');
const OBJECT_CORE = `${FRAMEWORK}::object::ObjectCore`;
const FUNGIBLE_STORE = `${FRAMEWORK}::fungible_asset::FungibleStore`;
const COIN_STORE = `${FRAMEWORK}::coin::CoinStore<`;
/** Events whose guid identifies an event handle of a coin store. */
const COIN_EVENTS: readonly string[] = [
  `${FRAMEWORK}::coin::DepositEvent`,
  `${FRAMEWORK}::coin::WithdrawEvent`,
];
/** Event with the event handles and the coin of a deleted coin store. */
const COIN_STORE_DELETION = `${FRAMEWORK}::coin::CoinStoreDeletion`;
const STORE_EVENTS: readonly string[] = [
  `${FRAMEWORK}::fungible_asset::Deposit`,
  `${FRAMEWORK}::fungible_asset::Withdraw`,
];
/** Older events, whose guid contains the address of the store. */
const OLD_STORE_EVENTS: readonly string[] = [
  `${FRAMEWORK}::fungible_asset::DepositEvent`,
  `${FRAMEWORK}::fungible_asset::WithdrawEvent`,
];
/** Event with the owner and the asset of a deleted fungible store. */
const STORE_DELETION = `${FRAMEWORK}::fungible_asset::FungibleStoreDeletion`;
/** The account in the guid of events that belong to no account. */
const NOBODY = toAccount('0x0');

/** @throws SourceError `inconsistent` if the version or hash is missing or invalid */
export function toAptosTransaction(raw: AptosJson, what: string): AptosTransaction {
  const version = Number(raw['version']);
  const hash = text(raw['hash']);
  const type = text(raw['type']);
  if (typeof raw['version'] !== 'string' || !Number.isSafeInteger(version)) {
    throw new SourceError('inconsistent', `${what}: invalid version ${showValue(raw['version'])}`);
  }
  if (!/^0x[0-9a-f]{64}$/.test(hash)) {
    throw new SourceError(
      'inconsistent',
      `${what}: invalid hash of ${version}: ${showValue(hash)}`,
    );
  }
  // The payload of a genesis transaction is not a call.
  const payload = type === 'user_transaction' ? optional(raw['payload']) : undefined;
  const { call, multisig } = readPayload(payload);
  const changes = objects(raw['changes']);
  const events = objects(raw['events']).map(toEvent);
  return {
    version,
    hash,
    type,
    success: raw['success'] === true,
    ...readSigners(raw, multisig),
    function: call === undefined ? null : normalizeType(text(call['function'])),
    typeArguments: texts(call?.['type_arguments']).map(normalizeType),
    arguments: Array.isArray(call?.['arguments']) ? call['arguments'] : [],
    gasLimit: text(raw['max_gas_amount']) || '0',
    gasUnitPrice: text(raw['gas_unit_price']) || '0',
    gasUsed: text(raw['gas_used']) || '0',
    stateChangeHash: text(raw['state_change_hash']),
    eventRootHash: text(raw['event_root_hash']),
    events,
    ...readStores(changes, events),
    raw,
    payload,
    changes,
  };
}

/**
 * Returns the owner and the asset of a store from its two resources, each an empty string if it is
 * unknown. A store can outlive its object, which alone has the owner.
 */
export const toAptosStore = (objectCore: unknown, fungibleStore: unknown): AptosStore => ({
  owner: toAccount(optional(objectCore)?.['owner']),
  asset: toAccount(optional(optional(fungibleStore)?.['metadata'])?.['inner']),
});

/**
 * Returns the entry function call of a payload, undefined if there is none, as in a script; and the
 * address of the multisig account that executes it, if any. The call may be in a multisig payload,
 * and either of them may have been encrypted.
 */
function readPayload(payload: AptosJson | undefined): {
  call: AptosJson | undefined;
  multisig: unknown;
} {
  const executed = decrypted(payload);
  const isMultisig = executed?.['type'] === 'multisig_payload';
  // The inner call is missing if it was proposed on chain.
  const call = isMultisig ? decrypted(optional(executed['transaction_payload'])) : executed;
  return {
    call: call?.['type'] === 'entry_function_payload' ? call : undefined,
    multisig: isMultisig ? executed['multisig_address'] : undefined,
  };
}

/**
 * Returns the content of an encrypted payload; undefined unless validators decrypted it. Any other
 * payload is returned unchanged.
 */
function decrypted(payload: AptosJson | undefined): AptosJson | undefined {
  if (payload?.['type'] !== 'encrypted_transaction_payload') return payload;
  return payload['encrypted_state'] === 'decrypted'
    ? optional(payload['decrypted_payload'])
    : undefined;
}

function readSigners(
  raw: AptosJson,
  multisig: unknown,
): Pick<AptosTransaction, 'signers' | 'actor'> {
  const signature = optional(raw['signature']);
  const given = [
    raw['sender'],
    ...texts(signature?.['secondary_signer_addresses']),
    signature?.['fee_payer_address'],
    multisig,
  ];
  return {
    signers: [...new Set(given.map(toAccount).filter((account) => account !== ''))],
    actor: toAccount(multisig ?? raw['sender']),
  };
}

function toEvent(raw: AptosJson): AptosEvent {
  const guid = optional(raw['guid']);
  const account = toAccount(guid?.['account_address']);
  return {
    type: normalizeType(text(raw['type'])),
    account: account === '' || account === NOBODY ? null : account,
    creationNumber: text(guid?.['creation_number']),
    sequenceNumber: text(raw['sequence_number']),
    data: optional(raw['data']) ?? {},
    raw,
  };
}

type Found = Pick<AptosTransaction, 'changed' | 'stores' | 'unknownStores' | 'coinHandles'>;

function readStores(changes: readonly AptosJson[], events: readonly AptosEvent[]): Found {
  const changed = new Set<string>();
  const coinHandles = new Map<string, string>();
  /** Coins of deleted coin stores, by account. */
  const deletedCoins = new Map<string, string[]>();
  const cores = new Map<string, unknown>();
  const holdings = new Map<string, unknown>();
  for (const change of changes) {
    // Table items have no address.
    const address = toAccount(change['address']);
    if (address === '') continue;
    changed.add(address);
    if (change['type'] === 'delete_resource') {
      const type = normalizeType(text(change['resource']));
      if (type.startsWith(COIN_STORE)) {
        const coin = type.slice(COIN_STORE.length, -1);
        deletedCoins.set(address, [...(deletedCoins.get(address) ?? []), coin]);
      }
    }
    if (change['type'] !== 'write_resource') continue;
    const resource = optional(change['data']);
    const type = normalizeType(text(resource?.['type']));
    const data = resource?.['data'];
    if (type === OBJECT_CORE) cores.set(address, data);
    else if (type === FUNGIBLE_STORE) holdings.set(address, data);
    else if (type.startsWith(COIN_STORE)) {
      const coin = type.slice(COIN_STORE.length, -1);
      for (const name of ['deposit_events', 'withdraw_events']) {
        const id = optional(optional(optional(optional(data)?.[name])?.['guid'])?.['id']);
        coinHandles.set(`${toAccount(id?.['addr'])}:${text(id?.['creation_num'])}`, coin);
      }
    }
  }
  const stores = new Map<string, AptosStore>();
  const named = new Set(holdings.keys());
  const owned = new Set<string>();
  const addStore = (address: string, { owner, asset }: AptosStore): void => {
    if (owner !== '' && asset !== '') owned.add(address);
    if (asset !== '') stores.set(address, { owner: owner || address, asset });
  };
  for (const [address, holding] of holdings) {
    addStore(address, toAptosStore(cores.get(address), holding));
  }
  for (const { type, account, data } of events) {
    if (type === COIN_STORE_DELETION) {
      const addr = toAccount(data['event_handle_creation_address']);
      const coin = normalizeType(text(data['coin_type']));
      for (const name of ['deposit', 'withdraw']) {
        const number = text(data[`deleted_${name}_event_handle_creation_number`]);
        coinHandles.set(`${addr}:${number}`, coin);
      }
    }
    if (STORE_EVENTS.includes(type)) named.add(toAccount(data['store']));
    if (OLD_STORE_EVENTS.includes(type) && account !== null) named.add(account);
    if (type !== STORE_DELETION) continue;
    addStore(toAccount(data['store']), {
      owner: toAccount(data['owner']),
      asset: toAccount(data['metadata']),
    });
  }
  // Without a deletion event, the event handles of a deleted coin store are unknown. They can be
  // assigned to a coin only if the account deleted a single coin store.
  for (const { type, account, creationNumber } of events) {
    if (!COIN_EVENTS.includes(type) || account === null) continue;
    const handle = `${account}:${creationNumber}`;
    const [coin, another] = deletedCoins.get(account) ?? [];
    if (coin !== undefined && another === undefined && !coinHandles.has(handle)) {
      coinHandles.set(handle, coin);
    }
  }
  return {
    changed: [...changed],
    stores,
    unknownStores: [...named].filter((store) => store !== '' && !owned.has(store)),
    coinHandles,
  };
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];

const optional = (value: unknown): AptosJson | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as AptosJson)
    : undefined;

const objects = (value: unknown): AptosJson[] =>
  Array.isArray(value) ? value.filter((each) => optional(each) !== undefined) : [];
