/** Composes the descriptions of webhooks. */
import { countAptosRecords, describeAptos } from './aptos/describe.ts';
import type { DescribedAptosWebhook } from './aptos/describe.ts';
import { countEvmRecords, describeEvm } from './evm/describe.ts';
import type { DescribedEvmWebhook } from './evm/describe.ts';
import { callByWebhook } from './webhooks.ts';

export type { DescribedAptosWebhook } from './aptos/describe.ts';
export type { DescribedEvmWebhook } from './evm/describe.ts';

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
  const what = callByWebhook({ evm: describeEvm, aptos: describeAptos }, webhook);
  const records = callByWebhook({ evm: countEvmRecords, aptos: countAptosRecords }, webhook);
  return what !== '' && records > 1 ? `${what} +${records - 1}` : what;
}
