/** A received webhook in one line of a terminal. */
import type { AptosWebhook, DecodedLog, EvmWebhook } from '@sluice/kit';
import type { Received } from './receiver.ts';

/** Decimals and symbol of a token whose amounts are shown in its own unit. */
export interface KnownToken {
  symbol: string;
  decimals: number;
}

/** The first event and how many more records there are, e.g. `Transfer 250 SLD 0x70…c8 → 0x3c…bc +1`. */
export function describeWebhook(
  { webhook, events }: Received,
  tokens: ReadonlyMap<string, KnownToken>,
): string {
  const [first] = events;
  const what = first ? describeEvent(first, tokens) : describeTransaction(webhook);
  const more =
    webhook.logs.length + webhook.txs.length + webhook.txsInternal.length - (what === '' ? 0 : 1);
  return more > 0 ? `${what} +${more}` : what;
}

/** The first payment, or what first came to somebody, e.g. `1.5 APT 0x498c…91aa → 0xe564…44d3`. */
export function describeAptosWebhook(webhook: AptosWebhook): string {
  const { transactions, coinTransfers, coinDeposits } = webhook;
  const [transfer] = coinTransfers;
  const [deposit] = coinDeposits;
  const moved = transfer ?? deposit;
  const amount = moved && `${moved.valueWithDecimals ?? moved.value} ${moved.coin.symbol}`.trim();
  const whom = transfer
    ? ` ${shorten(transfer.from)} → ${shorten(transfer.to)}`
    : deposit
      ? ` → ${shorten(deposit.address)}`
      : '';
  const more = transactions.length - 1;
  return `${amount ?? transactions[0]?.type ?? ''}${whom}${more > 0 ? ` +${more}` : ''}`;
}

function describeEvent(event: DecodedLog, tokens: ReadonlyMap<string, KnownToken>): string {
  const { from, to, value, id, tokenId } = event.args;
  const token = tokens.get(event.address);
  const parts = [event.name];
  if (typeof value === 'bigint' && id === undefined) {
    parts.push(token ? `${toUnits(value, token.decimals)} ${token.symbol}` : String(value));
  }
  if (typeof tokenId === 'bigint') parts.push(`#${tokenId}`);
  if (typeof id === 'bigint' && typeof value === 'bigint') parts.push(`${value} × #${id}`);
  if (typeof from === 'string' && typeof to === 'string')
    parts.push(`${shorten(from)} → ${shorten(to)}`);
  return parts.join(' ');
}

function describeTransaction({ txs }: EvmWebhook): string {
  const [first] = txs;
  if (first === undefined) return '';
  const to = first.toAddress === null ? 'new contract' : shorten(first.toAddress);
  return `${toUnits(BigInt(first.value ?? '0'), 18)} ETH ${shorten(first.fromAddress)} → ${to}`;
}

/** `0x70997970…` as `0x7099…79c8`. */
const shorten = (hash: string): string => `${hash.slice(0, 6)}…${hash.slice(-4)}`;

/** A whole amount in its unit, without trailing zeros: 1500000 with 6 decimals is `1.5`. */
function toUnits(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const rest = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return rest === '' ? whole : `${whole}.${rest}`;
}
