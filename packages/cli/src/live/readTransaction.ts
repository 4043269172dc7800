/** Reads a transaction of a followed chain as the webhook that a stream would send. */
import type { AptosWebhook, EvmWebhook } from '@sluice/kit';
import { findAptosNetwork } from '@sluice/kit/contract';
import type { Connection } from '../connection/connection.ts';
import { CommandError } from '../terminal/errors.ts';

/** Token events that select the records if no address is given. */
const USUAL_EVENTS = [
  'Transfer(address,address,uint256)',
  'TransferSingle(address,address,address,uint256,uint256)',
  'TransferBatch(address,address,address,uint256[],uint256[])',
  'Approval(address,address,uint256)',
  'ApprovalForAll(address,address,bool)',
];

/**
 * Finds the chain and block of a transaction, in both chain families.
 *
 * @throws CommandError `not_found` if no followed chain has the transaction.
 */
export async function findTransaction(
  { sluice }: Pick<Connection, 'sluice'>,
  hash: string,
): Promise<{ chainId: string; blockNumber: number }> {
  const { kind, chainId, block, message } = await sluice.explain(hash);
  if (kind !== 'transaction' || chainId === null || block === null) {
    throw new CommandError('not_found', `${hash}: ${message}`);
  }
  return { chainId, blockNumber: block.number };
}

/**
 * Reads a transaction of an EVM chain.
 *
 * @throws CommandError `not_found` if no EVM chain has the transaction, or no record matches.
 */
export async function readTransaction(
  connection: Pick<Connection, 'api' | 'sluice'>,
  hash: string,
  /** The sender, the recipient, a contract that emitted a log, or an address in a log's topics. */
  touching: string | undefined,
): Promise<EvmWebhook> {
  const at = await findTransaction(connection, hash);
  const network = findAptosNetwork(at.chainId);
  if (network !== undefined) {
    throw new CommandError(
      'not_found',
      `${hash} is on Aptos (${network}), where single transactions cannot be read`,
      'see what a stream would receive: sluice dry-run --tx',
    );
  }
  const webhook = (await connection.api.streams.dryRunBlock({
    ...at,
    tag: 'transaction',
    includeNativeTxs: true,
    includeContractLogs: true,
    includeAllTxLogs: true,
    ...(touching === undefined
      ? { allAddresses: true, topic0: USUAL_EVENTS }
      : { addresses: [touching] }),
  })) as EvmWebhook;
  const only = onlyOf(webhook, hash);
  if (only !== undefined) return only;
  throw new CommandError(
    'not_found',
    touching === undefined ? `${hash} has no token events` : `${hash} does not involve ${touching}`,
    'pass an address of the transaction: --touching 0x…',
  );
}

/** Returns the webhook with only the records of one transaction; undefined if there are none. */
export function onlyOf(webhook: EvmWebhook, transactionHash: string): EvmWebhook | undefined {
  const hash = transactionHash.toLowerCase();
  if ((webhook.block as object | undefined) === undefined) return undefined;
  const isOf = (record: object): boolean =>
    ('hash' in record ? record.hash : 'transactionHash' in record ? record.transactionHash : '') ===
    hash;
  const { ERC721, ERC1155 } = webhook.nftApprovals;
  const records = {
    logs: webhook.logs.filter(isOf),
    txs: webhook.txs.filter(isOf),
    txsInternal: webhook.txsInternal.filter(isOf),
    erc20Transfers: webhook.erc20Transfers.filter(isOf),
    erc20Approvals: webhook.erc20Approvals.filter(isOf),
    nftTransfers: webhook.nftTransfers.filter(isOf),
    nftTokenApprovals: webhook.nftTokenApprovals.filter(isOf),
    nftApprovals: { ERC721: ERC721.filter(isOf), ERC1155: ERC1155.filter(isOf) },
    ...(webhook.calls && { calls: webhook.calls.filter(isOf) }),
  };
  const { logs, txs, txsInternal, calls = [] } = records;
  if ([logs, txs, txsInternal, calls].flat().length === 0) return undefined;
  // Addresses in topics have no 0x prefix.
  const named = JSON.stringify(records);
  const nativeBalances = webhook.nativeBalances.filter(({ address }) =>
    named.includes(address.slice(2)),
  );
  return { ...webhook, ...records, nativeBalances };
}

/**
 * Returns the webhook with only the records of one Aptos transaction; undefined if there are none.
 */
export function onlyOfAptos(
  webhook: AptosWebhook,
  transactionHash: string,
): AptosWebhook | undefined {
  const hash = transactionHash.toLowerCase();
  const isOf = ({ txHash }: { txHash: string }): boolean => txHash === hash;
  const at = webhook.transactions.findIndex((transaction) => transaction.hash === hash);
  const transaction = webhook.transactions[at];
  if (transaction === undefined) return undefined;
  return {
    ...webhook,
    coinTransfers: webhook.coinTransfers.filter(isOf),
    coinDeposits: webhook.coinDeposits.filter(isOf),
    coinWithdrawals: webhook.coinWithdrawals.filter(isOf),
    transactions: [transaction],
    changes: webhook.changes.filter(isOf),
    payloads: webhook.payloads.filter(isOf),
    // `webhook.events` contains one list per transaction, or is empty.
    events: webhook.events.slice(at, at + 1),
  };
}
