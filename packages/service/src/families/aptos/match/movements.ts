/** Reads the coin and asset movements of an Aptos transaction, and the accounts that it touches. */
import { toAccount, normalizeType } from './moveNames.ts';
import type { AptosEvent, AptosTransaction } from './block.ts';

/** A deposit or withdrawal of a coin or fungible asset. */
export interface AptosMovement {
  kind: 'deposit' | 'withdrawal';
  /** The account whose balance changed, or the fungible store itself if its owner is unknown. */
  account: string;
  /** Coin type, or metadata address of the fungible asset; empty if it is unknown. */
  asset: string;
  /** Decimal. */
  value: string;
  sequenceNumber: string;
}

const FRAMEWORK = toAccount('0x1');

/**
 * Metadata address of APT as a fungible asset. APT is also a coin, and all its movements are
 * reported with the coin type.
 */
const APT_METADATA = toAccount('0xa');
export const APT_COIN = `${FRAMEWORK}::aptos_coin::AptosCoin`;
const toCoin = (metadata: string): string => (metadata === APT_METADATA ? APT_COIN : metadata);

interface MovementEvent {
  kind: AptosMovement['kind'];
  of: 'coin' | 'store';
  /**
   * Whether the event is a handle event, whose guid identifies the event handle, or a module event.
   */
  by: 'handle' | 'module';
}

/**
 * Events that report movements. Depending on the age of the block, a movement has a handle event, a
 * module event, or both.
 */
const MOVEMENT_EVENTS: ReadonlyMap<string, MovementEvent> = new Map([
  [`${FRAMEWORK}::coin::DepositEvent`, { kind: 'deposit', of: 'coin', by: 'handle' }],
  [`${FRAMEWORK}::coin::WithdrawEvent`, { kind: 'withdrawal', of: 'coin', by: 'handle' }],
  [`${FRAMEWORK}::coin::CoinDeposit`, { kind: 'deposit', of: 'coin', by: 'module' }],
  [`${FRAMEWORK}::coin::CoinWithdraw`, { kind: 'withdrawal', of: 'coin', by: 'module' }],
  [`${FRAMEWORK}::fungible_asset::DepositEvent`, { kind: 'deposit', of: 'store', by: 'handle' }],
  [
    `${FRAMEWORK}::fungible_asset::WithdrawEvent`,
    { kind: 'withdrawal', of: 'store', by: 'handle' },
  ],
  [`${FRAMEWORK}::fungible_asset::Deposit`, { kind: 'deposit', of: 'store', by: 'module' }],
  [`${FRAMEWORK}::fungible_asset::Withdraw`, { kind: 'withdrawal', of: 'store', by: 'module' }],
]);
const OBJECT_TRANSFERS: readonly string[] = [
  `${FRAMEWORK}::object::Transfer`,
  `${FRAMEWORK}::object::TransferEvent`,
];
/** Types of the framework: `0x1`, and the token modules `0x3` and `0x4`. */
const FRAMEWORK_TYPE = /^0x0{63}[134]::/;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns the deposits and withdrawals of a transaction, in the order of their events. */
export function readMovements({ events, stores, coinHandles }: AptosTransaction): AptosMovement[] {
  const movements: AptosMovement[] = [];
  for (const [n, event] of events.entries()) {
    const what = MOVEMENT_EVENTS.get(event.type);
    const holder = holderOf(event);
    if (what === undefined || holder === null) continue;
    const twin = [events[n - 1], events[n + 1]].find((other) => isTwin(event, other));
    // Skips the module event of a movement that also has a handle event.
    if (twin !== undefined && what.by === 'module') continue;
    const { kind } = what;
    const { sequenceNumber } = event;
    const value = text(event.data['amount']);
    if (what.of === 'store') {
      const known = stores.get(holder);
      const asset = toCoin(known?.asset ?? '');
      movements.push({ kind, account: known?.owner ?? holder, asset, value, sequenceNumber });
    } else {
      const ofHandle = coinHandles.get(`${event.account}:${event.creationNumber}`);
      const asset = ofHandle ?? normalizeType(text((twin ?? event).data['coin_type']));
      movements.push({ kind, account: holder, asset, value, sequenceNumber });
    }
  }
  return movements;
}

/**
 * Returns the account (for a coin) or store (for an asset) whose balance changed; null or empty if
 * the event does not contain it.
 */
function holderOf(event: AptosEvent): string | null {
  const what = MOVEMENT_EVENTS.get(event.type);
  if (what?.by === 'handle') return event.account;
  return toAccount(event.data[what?.of === 'coin' ? 'account' : 'store']);
}

/** Returns whether one event is the handle event and the other the module event of one movement. */
function isTwin(event: AptosEvent, other: AptosEvent | undefined): boolean {
  if (other === undefined) return false;
  const [one, two] = [MOVEMENT_EVENTS.get(event.type), MOVEMENT_EVENTS.get(other.type)];
  return (
    one !== undefined &&
    two !== undefined &&
    one.by !== two.by &&
    one.kind === two.kind &&
    one.of === two.of &&
    holderOf(event) === holderOf(other) &&
    event.data['amount'] === other.data['amount']
  );
}

/**
 * Returns every account that the transaction touches, without duplicates: its signers, accounts in
 * event guids, accounts with changed resources or modules, owners of its fungible stores, accounts
 * of its movements, accounts that module events of the framework name, and both accounts of each
 * object transfer.
 */
export function readTouchedAccounts(
  transaction: AptosTransaction,
  movements: readonly AptosMovement[] = readMovements(transaction),
): Set<string> {
  const touched = new Set(transaction.signers);
  for (const { type, account, data } of transaction.events) {
    if (account !== null) touched.add(account);
    // Module events name the account that was in the guid of the handle events they replaced.
    else if (FRAMEWORK_TYPE.test(type)) touched.add(toAccount(data['account']));
    if (!OBJECT_TRANSFERS.includes(type)) continue;
    for (const side of ['from', 'to']) touched.add(toAccount(data[side]));
  }
  for (const address of transaction.changed) touched.add(address);
  for (const { owner } of transaction.stores.values()) touched.add(owner);
  for (const { account } of movements) touched.add(account);
  touched.delete('');
  return touched;
}

/** A payment by a function of the framework. */
export interface AptosTransfer {
  from: string;
  to: string;
  value: string;
  asset: string;
}

/**
 * Functions of the framework that pay from the account of the caller to accounts, and how their
 * arguments name the asset: not at all for `apt`, as type argument for `coin`, and as first
 * argument for `metadata`. The recipient and the amount follow, or a list of each.
 */
const PAYMENTS: ReadonlyMap<string, 'apt' | 'coin' | 'metadata'> = new Map([
  [`${FRAMEWORK}::aptos_account::transfer`, 'apt'],
  [`${FRAMEWORK}::aptos_account::fungible_transfer_only`, 'apt'],
  [`${FRAMEWORK}::aptos_account::batch_transfer`, 'apt'],
  [`${FRAMEWORK}::coin::transfer`, 'coin'],
  [`${FRAMEWORK}::aptos_account::transfer_coins`, 'coin'],
  [`${FRAMEWORK}::aptos_account::batch_transfer_coins`, 'coin'],
  [`${FRAMEWORK}::aptos_account::transfer_fungible_assets`, 'metadata'],
  [`${FRAMEWORK}::aptos_account::batch_transfer_fungible_assets`, 'metadata'],
  [`${FRAMEWORK}::primary_fungible_store::transfer`, 'metadata'],
  [`${FRAMEWORK}::primary_fungible_store::transfer_assert_minimum_deposit`, 'metadata'],
]);

/** Returns the payments that the transaction's function makes; none if it failed. */
export function readTransfers(transaction: AptosTransaction): AptosTransfer[] {
  const { success, actor, typeArguments, arguments: given } = transaction;
  const naming = PAYMENTS.get(transaction.function ?? '');
  if (!success || naming === undefined) return [];
  const [to, value] = naming === 'metadata' ? given.slice(1) : given;
  const asset =
    naming === 'apt'
      ? APT_COIN
      : naming === 'coin'
        ? (typeArguments[0] ?? '')
        : readAsset(given[0]);
  const values = listOf(value);
  return listOf(to).flatMap((each, n) => {
    const payment = { from: actor, to: toAccount(each), value: text(values[n]), asset };
    return payment.to === '' || !/^\d+$/.test(payment.value) ? [] : payment;
  });
}

/** Returns the asset of an argument of type `Object<Metadata>`. */
function readAsset(argument: unknown): string {
  const isObject = typeof argument === 'object' && argument !== null && 'inner' in argument;
  return toCoin(toAccount(isObject ? argument.inner : argument));
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);
