/** What coins and fungible assets an Aptos transaction moved, and which accounts it touched. Pure. */
import { toAccount, toType } from '../moveNames.ts';
import type { AptosEvent, AptosTransaction } from './aptosBlock.ts';

/** A deposit or a withdrawal. */
export interface AptosMovement {
  kind: 'deposit' | 'withdrawal';
  /** Whose balance it was; of a fungible store that is gone and that nobody knows, the store itself. */
  account: string;
  /** Coin type, or address of the asset's metadata; empty where the transaction does not show it. */
  asset: string;
  /** Decimal. */
  value: string;
  sequenceNumber: string;
}

const FRAMEWORK = toAccount('0x1');

type Kinds = ReadonlyMap<string, AptosMovement['kind']>;

const COIN_EVENTS: Kinds = new Map([
  [`${FRAMEWORK}::coin::DepositEvent`, 'deposit'],
  [`${FRAMEWORK}::coin::WithdrawEvent`, 'withdrawal'],
]);
/** Told beside the ones above, or instead of them, depending on the age of the block. */
const COIN_MODULE_EVENTS: Kinds = new Map([
  [`${FRAMEWORK}::coin::CoinDeposit`, 'deposit'],
  [`${FRAMEWORK}::coin::CoinWithdraw`, 'withdrawal'],
]);
const STORE_EVENTS: Kinds = new Map([
  [`${FRAMEWORK}::fungible_asset::Deposit`, 'deposit'],
  [`${FRAMEWORK}::fungible_asset::Withdraw`, 'withdrawal'],
]);
const OBJECT_TRANSFERS: readonly string[] = [
  `${FRAMEWORK}::object::Transfer`,
  `${FRAMEWORK}::object::TransferEvent`,
];

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Deposits and withdrawals in the order of their events. */
export function readMovements({ events, stores, coinHandles }: AptosTransaction): AptosMovement[] {
  const movements: AptosMovement[] = [];
  for (const [n, event] of events.entries()) {
    const coin = COIN_EVENTS.get(event.type);
    const module = COIN_MODULE_EVENTS.get(event.type);
    const store = STORE_EVENTS.get(event.type);
    const value = text(event.data['amount']);
    const { sequenceNumber } = event;
    if (coin !== undefined && event.account !== null) {
      const asset = coinHandles.get(`${event.account}:${event.creationNumber}`) ?? '';
      const told = [events[n - 1], events[n + 1]].find((other) => isSame(event, coin, other));
      movements.push({
        kind: coin,
        account: event.account,
        asset: asset || toType(text(told?.data['coin_type'])),
        value,
        sequenceNumber,
      });
    } else if (module !== undefined) {
      // The framework told of one movement by both events for a while, one after the other.
      const isTold = [events[n - 1], events[n + 1]].some(
        (other) => other !== undefined && isSame(other, COIN_EVENTS.get(other.type), event),
      );
      if (isTold) continue;
      movements.push({
        kind: module,
        account: toAccount(event.data['account']),
        asset: toType(text(event.data['coin_type'])),
        value,
        sequenceNumber,
      });
    } else if (store !== undefined) {
      const address = toAccount(event.data['store']);
      const known = stores.get(address);
      movements.push({
        kind: store,
        account: known?.owner ?? address,
        asset: known?.asset ?? '',
        value,
        sequenceNumber,
      });
    }
  }
  return movements;
}

/** Whether a counted event and a module event tell of one movement. */
function isSame(
  counted: AptosEvent,
  kind: AptosMovement['kind'] | undefined,
  module: AptosEvent | undefined,
): boolean {
  return (
    kind !== undefined &&
    module !== undefined &&
    COIN_MODULE_EVENTS.get(module.type) === kind &&
    toAccount(module.data['account']) === counted.account &&
    module.data['amount'] === counted.data['amount']
  );
}

/**
 * Every account the transaction touches: those that sign it, those an event's guid names, those whose
 * resources or modules changed, the owners of fungible stores in it, and those an object passed
 * between. Each once.
 */
export function readTouched(
  transaction: AptosTransaction,
  movements: readonly AptosMovement[] = readMovements(transaction),
): Set<string> {
  const touched = new Set(transaction.signers);
  for (const event of transaction.events) {
    if (event.account !== null) touched.add(event.account);
    if (!OBJECT_TRANSFERS.includes(event.type)) continue;
    for (const side of ['from', 'to']) {
      const account = toAccount(event.data[side]);
      if (account !== '') touched.add(account);
    }
  }
  for (const address of transaction.changed) touched.add(address);
  for (const { owner } of transaction.stores.values()) touched.add(owner);
  for (const { account } of movements) touched.add(account);
  touched.delete('');
  return touched;
}

/** A payment by one of the two functions the contract names. */
export interface AptosTransfer {
  from: string;
  to: string;
  value: string;
  asset: string;
}

/** Undefined where the transaction is no such payment, or failed. */
export function readTransfer(transaction: AptosTransaction): AptosTransfer | undefined {
  const { success, actor, typeArguments, arguments: given } = transaction;
  const isCoin = transaction.function === `${FRAMEWORK}::coin::transfer`;
  const isApt = transaction.function === `${FRAMEWORK}::aptos_account::transfer`;
  if (!success || (!isCoin && !isApt)) return undefined;
  const to = toAccount(given[0]);
  const value = text(given[1]);
  if (to === '' || !/^\d+$/.test(value)) return undefined;
  const asset = isCoin ? (typeArguments[0] ?? '') : `${FRAMEWORK}::aptos_coin::AptosCoin`;
  return { from: actor, to, value, asset };
}
