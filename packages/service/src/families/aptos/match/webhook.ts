/** Converts a match to an `AptosWebhook` body, with the keys in wire order. */
import {
  type AptosCoin,
  type AptosCoinMovement,
  type AptosNetwork,
  type AptosRawObject,
  type AptosWebhook,
  type AptosWebhookTransaction,
} from '@sluice/kit/contract';
import type { AptosBlock, AptosJson, AptosTransaction } from './block.ts';
import type { AptosMatch } from './match.ts';

/** The body without `retries`, split where `retries` is inserted. */
export interface AptosWebhookParts {
  head: Pick<AptosWebhook, 'streamId' | 'tag' | 'network' | 'block'>;
  tail: AptosBodyTail;
}

export type AptosBodyTail = Omit<AptosWebhook, keyof AptosWebhookParts['head'] | 'retries'>;

/** Returns the parts of the body. Enrichment adds the metadata of the coins later. */
export function toAptosWebhookParts(
  network: AptosNetwork,
  block: AptosBlock,
  { stream, transactions }: AptosMatch,
): AptosWebhookParts {
  const { id, tag, options } = stream.record;
  const movements = (kind: 'deposit' | 'withdrawal'): AptosCoinMovement[] =>
    transactions.flatMap(({ transaction: { hash }, movements: all }) =>
      all
        .filter((each) => each.kind === kind)
        .map(({ value, account, asset, sequenceNumber }) => ({
          value,
          address: account,
          coin: unknownCoin(asset),
          valueWithDecimals: null,
          sequenceNumber,
          txHash: hash,
        })),
    );
  const raw = <T>(wanted: boolean, each: (transaction: AptosTransaction) => T[]): T[] =>
    wanted ? transactions.flatMap(({ transaction }) => each(transaction)) : [];
  return {
    head: {
      streamId: id,
      tag,
      network,
      block: {
        number: String(block.number),
        timestamp: block.timestampMicros,
        hash: block.hash,
        firstVersion: String(block.firstVersion),
        lastVersion: String(block.lastVersion),
      },
    },
    tail: {
      coinTransfers: transactions.flatMap(({ transaction: { hash }, transfers }) =>
        transfers.map(({ asset, to, value, from }) => ({
          coin: unknownCoin(asset),
          to,
          value,
          from,
          valueWithDecimals: null,
          transaction: hash,
          txHash: hash,
        })),
      ),
      coinDeposits: movements('deposit'),
      coinWithdrawals: movements('withdrawal'),
      transactions: transactions.flatMap(({ transaction, isContinued }) =>
        isContinued ? [] : [toWebhookTransaction(transaction)],
      ),
      changes: raw(options.includeChanges, ({ changes, hash }) =>
        changes.map((change) => withHash(change, hash)),
      ),
      payloads: raw(options.includePayload, ({ payload, hash }) =>
        payload === undefined ? [] : [withHash(payload, hash)],
      ),
      events: (options.includeEvents ? transactions : []).flatMap(
        ({ transaction: { events, hash }, isContinued }) =>
          isContinued && events.length === 0
            ? []
            : [events.map((event) => withHash(event.raw, hash))],
      ),
    },
  };
}

const unknownCoin = (type: string): AptosCoin => ({ decimals: null, name: '', symbol: '', type });

const withHash = (value: AptosJson, txHash: string): AptosRawObject => ({ ...value, txHash });

const toWebhookTransaction = (transaction: AptosTransaction): AptosWebhookTransaction => ({
  gasLimit: transaction.gasLimit,
  gasUnitPrice: transaction.gasUnitPrice,
  gasUsed: transaction.gasUsed,
  hash: transaction.hash,
  stateChangeHash: transaction.stateChangeHash,
  eventChangeHash: transaction.eventRootHash,
  success: transaction.success,
  type: transaction.type,
  sender: transaction.signers[0] ?? '',
});
