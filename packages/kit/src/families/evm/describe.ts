/** Describes a webhook of an EVM stream. */
import { selectorOf } from '../../contract/rules/functions.ts';
import type {
  EvmWebhook,
  WebhookCall,
  WebhookLog,
  WebhookRead,
} from '../../contract/shapes.generated.ts';
import { findEvmChain } from './evmChains.ts';
import { toNativeTransfer } from './nativeTransfer.ts';
import { decodeKnown } from '../../webhooks/decode.ts';
import {
  type Optional,
  listOf,
  formatRoute,
  shorten,
  toName,
  formatTokenId,
  toUnits,
  joinWords,
} from '../../webhooks/describedParts.ts';

/** The part of an EVM webhook that {@link describeWebhook} reads. */
export type DescribedEvmWebhook = Pick<EvmWebhook, 'chainId'> &
  Optional<
    Pick<
      EvmWebhook,
      | 'abi'
      | 'logs'
      | 'txs'
      | 'txsInternal'
      | 'erc20Transfers'
      | 'erc20Approvals'
      | 'nftTransfers'
      | 'nftTokenApprovals'
      | 'calls'
      | 'reads'
    >
  >;

/** The amount of an unlimited approval. */
const UNLIMITED = String(2n ** 256n - 1n);
type CountedEvmWebhook = Pick<
  DescribedEvmWebhook,
  'logs' | 'txs' | 'txsInternal' | 'calls' | 'reads'
>;

/** Describes the first record of a webhook; returns an empty string if it cannot. */
export function describeEvm(webhook: DescribedEvmWebhook): string {
  const { logs, txs, txsInternal, calls, reads, chainId } = webhook;
  const [log] = listOf(logs);
  if (log !== undefined) return describeLog(log, webhook);
  const [called] = listOf(calls);
  if (called !== undefined) return describeCall(called);
  const [paid] = listOf(txs);
  if (paid !== undefined) {
    const to = paid.toAddress === null ? 'new contract' : shorten(paid.toAddress);
    return `${native(paid.value, chainId)} ${shorten(paid.fromAddress)} → ${to}`;
  }
  const [moved] = listOf(txsInternal);
  if (moved !== undefined) {
    const { value, from, to } = moved;
    return `${native(value, chainId)} ${formatRoute(from, to)} inside`;
  }
  const [read] = listOf(reads);
  if (read !== undefined) return describeRead(read, chainId);
  // The webhook may contain transfers without their logs.
  return describeToken(webhook, () => true);
}

function describeCall({ function: named, input, from, to, status }: WebhookCall): string {
  const name = named === null ? (selectorOf(input) ?? 'call') : named.slice(0, named.indexOf('('));
  return joinWords([toName(name), formatRoute(from, to), status === 'failed' ? 'failed' : '']);
}

/** Describes a value, such as `totalSupply 1,204 → 980`. */
function describeRead(
  { contract, function: named, balance, of, decimals, before, after }: WebhookRead,
  chainId: string,
): string {
  const show = (value: unknown): string => {
    if (balance === 'native') return native(String(value), chainId);
    return typeof value === 'string' && /^-?\d+$/.test(value)
      ? toUnits(BigInt(value), decimals ?? 0)
      : toName(typeof value === 'string' ? value : JSON.stringify(value));
  };
  return joinWords([
    named === undefined ? 'Balance' : toName(named.slice(0, named.indexOf('('))),
    before === null ? show(after.value) : `${show(before.value)} → ${show(after.value)}`,
    `at ${shorten(of ?? contract ?? '')}`,
  ]);
}

function describeLog(log: WebhookLog, webhook: DescribedEvmWebhook): string {
  const token = describeToken(
    webhook,
    ({ transactionHash, logIndex }) =>
      logIndex === log.logIndex && transactionHash === log.transactionHash,
  );
  if (token !== '') return token;
  const { address, topic0, topic1, topic2, topic3, data } = log;
  const paid = toNativeTransfer({ address, topics: [topic0, topic1, topic2, topic3], data });
  if (paid !== undefined) {
    return `${native(String(paid.value), webhook.chainId)} ${formatRoute(paid.from, paid.to)}`;
  }
  if (!Array.isArray(webhook.abi)) return '';
  const [event] = decodeKnown([log], webhook.abi).decoded;
  if (event === undefined) return `log of ${shorten(log.address)}`;
  const { from, to, value } = event.args;
  return joinWords([
    toName(event.name),
    typeof value === 'bigint' ? toUnits(value, 0) : '',
    typeof from === 'string' && typeof to === 'string'
      ? `${shorten(from)} → ${shorten(to)}`
      : `at ${shorten(log.address)}`,
  ]);
}

interface Place {
  transactionHash: string;
  logIndex: string;
}

/**
 * Describes the first token transfer or approval for which `isSought` returns true; returns an
 * empty string if there is none.
 */
function describeToken(
  { erc20Transfers, erc20Approvals, nftTransfers, nftTokenApprovals }: DescribedEvmWebhook,
  isSought: (place: Place) => boolean,
): string {
  const transfer = listOf(erc20Transfers).find(isSought);
  if (transfer !== undefined) {
    return joinWords(['Transfer', amountOf(transfer), formatRoute(transfer.from, transfer.to)]);
  }
  const approval = listOf(erc20Approvals).find(isSought);
  if (approval !== undefined) {
    const { value, tokenSymbol, owner, spender } = approval;
    const amount = value === UNLIMITED ? `unlimited ${toName(tokenSymbol)}` : amountOf(approval);
    return joinWords(['Approval', amount.trim(), formatRoute(owner, spender)]);
  }
  const nft = listOf(nftTransfers).find(isSought);
  if (nft !== undefined) {
    const { amount, tokenId, toTokenId, tokenSymbol, from, to } = nft;
    const times = amount === '1' || toTokenId !== undefined ? '' : `${amount} ×`;
    const which = [tokenId, ...(toTokenId === undefined ? [] : [toTokenId])]
      .map(formatTokenId)
      .join('–');
    return joinWords(['Transfer', times, toName(tokenSymbol), which, formatRoute(from, to)]);
  }
  const allowed = listOf(nftTokenApprovals).find(isSought);
  if (allowed === undefined) return '';
  const { tokenId, tokenSymbol, account, operator } = allowed;
  const which = tokenId === null ? 'all' : formatTokenId(tokenId);
  return joinWords(['Approval', which, toName(tokenSymbol), formatRoute(account, operator)]);
}

/**
 * Formats an amount with its token, such as `1,200.5 USDT`. The number is unscaled if the decimals
 * are unknown.
 */
const amountOf = ({
  value,
  tokenDecimals,
  tokenSymbol,
}: {
  value: string;
  tokenDecimals: string;
  tokenSymbol: string;
}): string => joinWords([toUnits(BigInt(value), Number(tokenDecimals)), toName(tokenSymbol)]);

/**
 * Formats an amount of native currency. The currency is called `native` for chains that are not in
 * {@link EVM_CHAINS}.
 */
const native = (value: string | null, chainId: string): string =>
  `${toUnits(BigInt(value ?? '0'), 18)} ${findEvmChain(chainId)?.currency ?? 'native'}`;

/** Returns the number of records that were matched. */
export const countEvmRecords = ({
  logs,
  txs,
  txsInternal,
  calls,
  reads,
}: CountedEvmWebhook): number =>
  listOf(logs).length +
  listOf(txs).length +
  listOf(txsInternal).length +
  listOf(calls).length +
  listOf(reads).length;
