/** A received webhook in one line of a terminal. */
import type { AptosWebhook, DecodedLog, EvmWebhook } from '@sluice/kit';

/** The first event and how many more records there are, e.g. `Transfer 250 SLD 0x70…c8 → 0x3c…bc +1`. */
export function describeWebhook(webhook: EvmWebhook, events: readonly DecodedLog[]): string {
  const [first] = events;
  const what = first ? describeEvent(first, webhook) : describeUndecoded(webhook);
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

function describeEvent(event: DecodedLog, webhook: EvmWebhook): string {
  const { from, to, value, id, tokenId } = event.args;
  const token = [...webhook.erc20Transfers, ...webhook.erc20Approvals].find(
    ({ contract }) => contract === event.address,
  );
  const parts = [event.name];
  if (typeof value === 'bigint' && id === undefined) {
    parts.push(
      token
        ? `${toUnits(value, Number(token.tokenDecimals))} ${token.tokenSymbol}`.trim()
        : String(value),
    );
  }
  if (typeof tokenId === 'bigint') parts.push(`#${tokenId}`);
  if (typeof id === 'bigint' && typeof value === 'bigint') parts.push(`${value} × #${id}`);
  if (typeof from === 'string' && typeof to === 'string')
    parts.push(`${shorten(from)} → ${shorten(to)}`);
  return parts.join(' ');
}

/** What the service itself decodes, without an ABI; else a payment; else the log as it is. */
function describeUndecoded(webhook: EvmWebhook): string {
  const [transfer] = webhook.erc20Transfers;
  if (transfer) {
    const { value, tokenDecimals, tokenSymbol, from, to } = transfer;
    const amount = `${toUnits(BigInt(value), Number(tokenDecimals))} ${tokenSymbol}`.trim();
    return `Transfer ${amount} ${shorten(from)} → ${shorten(to)}`;
  }
  const [nft] = webhook.nftTransfers;
  if (nft) return `Transfer #${nft.tokenId} ${shorten(nft.from)} → ${shorten(nft.to)}`;
  const [paid] = webhook.txs;
  if (paid) {
    const to = paid.toAddress === null ? 'new contract' : shorten(paid.toAddress);
    return `${toUnits(BigInt(paid.value ?? '0'), 18)} ETH ${shorten(paid.fromAddress)} → ${to}`;
  }
  const [moved] = webhook.txsInternal;
  if (moved) {
    const amount = toUnits(BigInt(moved.value ?? '0'), 18);
    return `${amount} ETH ${shorten(moved.from ?? '')} → ${shorten(moved.to ?? '')} inside`;
  }
  const [log] = webhook.logs;
  return log ? `log of ${shorten(log.address)}` : '';
}

/** `0x70997970…` as `0x7099…79c8`. */
export const shorten = (hash: string): string => `${hash.slice(0, 6)}…${hash.slice(-4)}`;

/** A whole amount in its unit, without trailing zeros: 1500000 with 6 decimals is `1.5`. */
export function toUnits(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const rest = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return rest === '' ? whole : `${whole}.${rest}`;
}
