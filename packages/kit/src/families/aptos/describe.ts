/** Describes a webhook of an Aptos stream. */
import type { AptosWebhook } from '../../contract/shapes.generated.ts';
import {
  type Optional,
  listOf,
  formatRoute,
  shorten,
  toName,
  toUnits,
  joinWords,
} from '../../webhooks/describedParts.ts';

/** The part of an Aptos webhook that {@link describeWebhook} reads. */
export type DescribedAptosWebhook = Pick<AptosWebhook, 'coinTransfers'> &
  Optional<Pick<AptosWebhook, 'transactions' | 'coinDeposits'>>;

/** Describes the first record of a webhook; returns an empty string if it cannot. */
export function describeAptos({
  transactions,
  coinTransfers,
  coinDeposits,
}: DescribedAptosWebhook): string {
  const [transfer] = listOf(coinTransfers);
  const [deposit] = listOf(coinDeposits);
  const moved = transfer ?? deposit;
  if (moved === undefined) return listOf(transactions)[0]?.type ?? '';
  const { coin, value } = moved;
  return joinWords([
    toUnits(BigInt(value), coin.decimals ?? 0),
    toName(coin.symbol),
    transfer === undefined
      ? `→ ${shorten(deposit?.address ?? '')}`
      : formatRoute(transfer.from, transfer.to),
  ]);
}

/** Returns the number of records that were matched. */
export const countAptosRecords = ({
  transactions,
}: Pick<DescribedAptosWebhook, 'transactions'>): number => listOf(transactions).length;
