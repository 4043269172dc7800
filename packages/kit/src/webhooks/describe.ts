/** Describes a webhook in one line. */
import type { AptosWebhook, EvmWebhook, WebhookLog } from '../contract/shapes.generated.ts';
import { findEvmChain } from '../families/evm/evmChains.ts';
import { toNativeTransfer } from '../families/evm/nativeTransfer.ts';
import { cutText } from '../contract/rules/text.ts';
import { decodeKnown } from './decode.ts';

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
    >
  >;

/** The part of an Aptos webhook that {@link describeWebhook} reads. */
export type DescribedAptosWebhook = Pick<AptosWebhook, 'coinTransfers'> &
  Optional<Pick<AptosWebhook, 'transactions' | 'coinDeposits'>>;

/** Bodies of the hosted service do not always have all lists. */
type Optional<Lists> = { readonly [Name in keyof Lists]?: Lists[Name] | null | undefined };

const listOf = <Item>(list: readonly Item[] | null | undefined): readonly Item[] => list ?? [];

/** Maximum number of decimals in an amount; further decimals are truncated. */
const MAX_DECIMALS = 6;
/** Maximum number of integer digits of an amount; longer amounts use an exponent. */
const MAX_WHOLE = 21;
/** The amount of an unlimited approval. */
const UNLIMITED = String(2n ** 256n - 1n);
/** Maximum length of token and event names, which are untrusted. */
const MAX_NAME_LENGTH = 24;

/**
 * Describes a webhook in one line: its first record, and the number of other records.
 * ```
 * Transfer 1,200.5 USDT 0x28c6…1d60 → 0x5a52…efcb +2
 * ```
 * Amounts are truncated to six decimals. Token and event names come from the chain, so escape the
 * text like any untrusted input. Returns an empty string for a webhook without records, and for one
 * without `abi` whose first log is not a token transfer or approval.
 */
export function describeWebhook(webhook: DescribedEvmWebhook | DescribedAptosWebhook): string {
  const [what, records] =
    'coinTransfers' in webhook
      ? [describeAptos(webhook), listOf(webhook.transactions).length]
      : [
          describeEvm(webhook),
          [webhook.logs, webhook.txs, webhook.txsInternal]
            .map((list) => listOf<unknown>(list).length)
            .reduce((sum, length) => sum + length),
        ];
  return what !== '' && records > 1 ? `${what} +${records - 1}` : what;
}

function describeEvm(webhook: DescribedEvmWebhook): string {
  const { logs, txs, txsInternal, chainId } = webhook;
  const [log] = listOf(logs);
  if (log !== undefined) return describeLog(log, webhook);
  const [paid] = listOf(txs);
  if (paid !== undefined) {
    const to = paid.toAddress === null ? 'new contract' : shorten(paid.toAddress);
    return `${native(paid.value, chainId)} ${shorten(paid.fromAddress)} → ${to}`;
  }
  const [moved] = listOf(txsInternal);
  if (moved !== undefined) {
    const { value, from, to } = moved;
    return `${native(value, chainId)} ${route(from, to)} inside`;
  }
  // The webhook may contain transfers without their logs.
  return describeToken(webhook, () => true);
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
    return `${native(String(paid.value), webhook.chainId)} ${route(paid.from, paid.to)}`;
  }
  if (!Array.isArray(webhook.abi)) return '';
  const [event] = decodeKnown([log], webhook.abi).decoded;
  if (event === undefined) return `log of ${shorten(log.address)}`;
  const { from, to, value } = event.args;
  return toWords([
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
    return toWords(['Transfer', amountOf(transfer), route(transfer.from, transfer.to)]);
  }
  const approval = listOf(erc20Approvals).find(isSought);
  if (approval !== undefined) {
    const { value, tokenSymbol, owner, spender } = approval;
    const amount = value === UNLIMITED ? `unlimited ${toName(tokenSymbol)}` : amountOf(approval);
    return toWords(['Approval', amount.trim(), route(owner, spender)]);
  }
  const nft = listOf(nftTransfers).find(isSought);
  if (nft !== undefined) {
    const { amount, tokenId, toTokenId, tokenSymbol, from, to } = nft;
    const times = amount === '1' || toTokenId !== undefined ? '' : `${amount} ×`;
    const which = [tokenId, ...(toTokenId === undefined ? [] : [toTokenId])]
      .map(toNumber)
      .join('–');
    return toWords(['Transfer', times, toName(tokenSymbol), which, route(from, to)]);
  }
  const allowed = listOf(nftTokenApprovals).find(isSought);
  if (allowed === undefined) return '';
  const { tokenId, tokenSymbol, account, operator } = allowed;
  const which = tokenId === null ? 'all' : toNumber(tokenId);
  return toWords(['Approval', which, toName(tokenSymbol), route(account, operator)]);
}

function describeAptos({
  transactions,
  coinTransfers,
  coinDeposits,
}: DescribedAptosWebhook): string {
  const [transfer] = listOf(coinTransfers);
  const [deposit] = listOf(coinDeposits);
  const moved = transfer ?? deposit;
  if (moved === undefined) return listOf(transactions)[0]?.type ?? '';
  const { coin, value } = moved;
  return toWords([
    toUnits(BigInt(value), coin.decimals ?? 0),
    toName(coin.symbol),
    transfer === undefined
      ? `→ ${shorten(deposit?.address ?? '')}`
      : route(transfer.from, transfer.to),
  ]);
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
}): string => toWords([toUnits(BigInt(value), Number(tokenDecimals)), toName(tokenSymbol)]);

/**
 * Formats an amount of native currency. The currency is called `native` for chains that are not in
 * {@link EVM_CHAINS}.
 */
const native = (value: string | null, chainId: string): string =>
  `${toUnits(BigInt(value ?? '0'), 18)} ${findEvmChain(chainId)?.currency ?? 'native'}`;

/** Scales and formats an amount: 1200500000 with 6 decimals becomes `1,200.5`. */
function toUnits(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const [rest = ''] = /^(?:0*[1-9])*/.exec(digits.slice(digits.length - decimals)) ?? [];
  if (whole.length > MAX_WHOLE) return `${whole[0]}.${whole.slice(1, 3)}e${whole.length - 1}`;
  if (whole === '0' && /^0{6}./.test(rest)) return '<0.000001';
  const shown = rest.length > MAX_DECIMALS ? `${rest.slice(0, MAX_DECIMALS)}…` : rest;
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  return shown === '' ? grouped : `${grouped}.${shown}`;
}

/** Matches control characters, and characters that change the text direction. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const toName = (name: string | null | undefined): string =>
  cutText((name ?? '').replaceAll(UNSEEN, ''), MAX_NAME_LENGTH);
/** Formats a token id. Long ids are shortened, because they have up to 78 digits. */
const toNumber = (tokenId: string): string =>
  `#${tokenId.length > MAX_NAME_LENGTH ? `${tokenId.slice(0, 8)}…` : tokenId}`;
const shorten = (hash: string): string => `${hash.slice(0, 6)}…${hash.slice(-4)}`;
const route = (from: string | null, to: string | null): string =>
  `${shorten(from ?? '')} → ${shorten(to ?? '')}`;
const toWords = (words: readonly string[]): string => words.filter((word) => word !== '').join(' ');
