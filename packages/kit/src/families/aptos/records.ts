/** Converts a webhook of an Aptos stream to database rows. */
import type { AptosWebhook } from '../../contract/shapes.generated.ts';
import { SluiceError } from '../../errors.ts';
import { collectionNameOf } from '../../records/collectionName.ts';
import { sha256Hex } from '../../records/ids.ts';
import type { AptosMovementRow, AptosRecords, AptosRowBase } from './rows.ts';

/** Bodies of some services lack empty lists. */
const listOf = <Item>(list: readonly Item[] | null | undefined): readonly Item[] => list ?? [];

/**
 * Converts a webhook to rows. The id of a row depends on its position among the rows of the same
 * kind and transaction, which is the same in every delivery.
 */
export function toAptosRecords(webhook: AptosWebhook): AptosRecords {
  const { network, block, tag } = webhook;
  if (typeof block !== 'object' || block === null) {
    throw new SluiceError(
      'invalid_webhook',
      'Cannot make records. network or block is missing from the webhook.',
    );
  }
  const places = new Map<string, number>();
  const baseOf = (kind: string, transactionHash: string): AptosRowBase => {
    const key = `aptos:${network};${transactionHash};${kind}`;
    const place = places.get(key) ?? 0;
    places.set(key, place + 1);
    return {
      id: sha256Hex(`${key};${place}`),
      network,
      blockNumber: Number(block.number),
      blockHash: block.hash,
      blockTimestamp: Number(block.timestamp),
      transactionHash,
    };
  };
  const valueOf = ({
    value,
    coin,
  }: AptosWebhook['coinDeposits'][number] | AptosWebhook['coinTransfers'][number]) => ({
    value,
    coinType: coin.type ?? '',
    coinName: coin.name,
    coinSymbol: coin.symbol,
    coinDecimals: coin.decimals,
  });
  const movements = (kind: 'coinDeposits' | 'coinWithdrawals'): AptosMovementRow[] =>
    listOf(webhook[kind]).map((each) => ({
      ...baseOf(kind, each.txHash),
      ...valueOf(each),
      address: each.address,
      sequenceNumber: each.sequenceNumber,
    }));
  // According to the documentation of the hosted service, `events` is one list, or one list per
  // transaction.
  const events = listOf(webhook.events).flat();
  const eventIndexes = new Map<string, number>();
  return {
    collectionName: collectionNameOf(tag ?? ''),
    transactions: listOf(webhook.transactions).map((each) => ({
      ...baseOf('transaction', each.hash),
      type: each.type,
      sender: each.sender,
      success: each.success,
      gasUsed: each.gasUsed,
      gasUnitPrice: each.gasUnitPrice,
      gasLimit: each.gasLimit,
    })),
    coinTransfers: listOf(webhook.coinTransfers).map((each) => ({
      ...baseOf('coinTransfers', each.txHash ?? each.transaction),
      ...valueOf(each),
      from: each.from,
      to: each.to,
    })),
    coinDeposits: movements('coinDeposits'),
    coinWithdrawals: movements('coinWithdrawals'),
    events: events.map((event) => {
      const eventIndex = eventIndexes.get(event.txHash) ?? 0;
      eventIndexes.set(event.txHash, eventIndex + 1);
      return {
        ...baseOf('event', event.txHash),
        eventIndex,
        type: typeof event['type'] === 'string' ? event['type'] : '',
        data: JSON.stringify(event['data'] ?? null),
      };
    }),
  };
}
