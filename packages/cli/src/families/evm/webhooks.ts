import { type EvmWebhook, type WebhookTrigger, decodeLogs } from '@sluice/kit';
import { CommandError } from '../../terminal/errors.ts';
import { shortenHash } from '../../terminal/text.ts';
import type { Connection } from '../../connection/connection.ts';
import type { FoundTransaction, WebhookFamily } from '../webhookFamily.ts';

export const EVM_WEBHOOKS: WebhookFamily<EvmWebhook> = {
  onlyOf,
  turnOf: ({ removed, confirmed }) => (removed ? 2 : confirmed ? 1 : 0),
  describePhase: ({ block, confirmed }) =>
    `#${block.number} ${confirmed ? 'confirmed  ' : 'unconfirmed'}`,
  readingsOf,
  decode: decodeLogs,
  async *send(sender, webhook, { unconfirmed, both, reorg }) {
    const first = both || reorg || unconfirmed;
    if (first) yield ['unconfirmed', await sender.send({ ...webhook, confirmed: false })];
    if (reorg) yield ['removed', await sender.sendRemoved(webhook)];
    else if (both || !first) {
      yield ['confirmed', await sender.send({ ...webhook, confirmed: true })];
    }
  },
  readTransaction,
};

/** Token events that select the records if no address is given. */
const USUAL_EVENTS = [
  'Transfer(address,address,uint256)',
  'TransferSingle(address,address,address,uint256,uint256)',
  'TransferBatch(address,address,address,uint256[],uint256[])',
  'Approval(address,address,uint256)',
  'ApprovalForAll(address,address,bool)',
];

async function readTransaction(
  { api }: Pick<Connection, 'api'>,
  { hash, chainId, blockNumber, touching }: FoundTransaction,
): Promise<EvmWebhook> {
  const webhook = (await api.streams.dryRunBlock({
    chainId,
    blockNumber,
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
function onlyOf(webhook: EvmWebhook, transactionHash: string): EvmWebhook | undefined {
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

function readingsOf(webhook: EvmWebhook): string[] {
  const { logs, txs, erc20Transfers, erc20Approvals, nftTransfers, nativeBalances } = webhook;
  const records: { triggers?: WebhookTrigger[] }[] = [
    logs,
    txs,
    erc20Transfers,
    erc20Approvals,
    nftTransfers,
  ].flat();
  return [
    ...records
      .flatMap(({ triggers = [] }) => triggers)
      .map(({ name, value }) => `trigger  ${name}  ${textOf(value)}`),
    ...nativeBalances.map(
      ({ address, balance }) => `balance  ${shortenHash(address)}  ${toNative(balance)} native`,
    ),
  ];
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Formats 1500000000000000000 as `1.5`. Native currencies of EVM chains have 18 decimals. */
function toNative(amount: string): string {
  const digits = amount.padStart(19, '0');
  const [rest] = /^(?:0*[1-9])*/.exec(digits.slice(-18))!;
  return `${digits.slice(0, -18)}${rest === '' ? '' : `.${rest}`}`;
}
