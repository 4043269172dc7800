/** Composes the conversion of webhooks to database rows. */
import type { Abi } from 'abitype';
import type { AbiItem, AptosWebhook } from '../contract/shapes.generated.ts';
import type { CompatibleRecords, MaybeTriggered } from '../records/compatibleRows.ts';
import type { LogRowOf, Records } from '../records/rows.ts';
import { toAptosRecords } from './aptos/records.ts';
import type { AptosRecords } from './aptos/rows.ts';
import { toEvmRecords } from './evm/records.ts';
import type { RecordSource, RecordsOptions } from './evm/records.ts';
import { callByWebhook } from './webhooks.ts';

export { toRemovedIds } from './evm/records.ts';
export type { RecordSource, RecordsOptions, RemovedIds } from './evm/records.ts';
export type * from './aptos/rows.ts';

/**
 * Converts a webhook to rows. A record has the same id in every delivery, so upsert rows by `id`.
 * The two deliveries of a block can arrive in either order, so never replace `confirmed: true` with
 * `confirmed: false`. Logs that cannot be decoded go to `undecodedLogs` and do not affect others.
 * An empty `chainId` means Ethereum, `0x1`. Webhooks of Aptos streams are converted to
 * {@link AptosRecords}.
 * @throws SluiceError `invalid_webhook` for anything but the body of a webhook, and for a removal
 * webhook, which {@link toRemovedIds} converts.
 */
export function toRecords<const A extends Abi | readonly AbiItem[]>(
  webhook: RecordSource,
  options: RecordsOptions<A> & { abi: A; ids: 'compatible' },
): CompatibleRecords<MaybeTriggered<LogRowOf<A>>>;
export function toRecords(
  webhook: RecordSource,
  options: RecordsOptions & { ids: 'compatible' },
): CompatibleRecords;
export function toRecords<const A extends Abi | readonly AbiItem[]>(
  webhook: RecordSource,
  options: RecordsOptions<A> & { abi: A; ids?: 'distinct' | undefined },
): Records<LogRowOf<A>>;
export function toRecords(webhook: AptosWebhook): AptosRecords;
export function toRecords(
  webhook: RecordSource,
  options?: RecordsOptions & { ids?: 'distinct' | undefined },
): Records;
export function toRecords(
  webhook: RecordSource,
  options: RecordsOptions,
): Records | CompatibleRecords;
export function toRecords(
  webhook: RecordSource | AptosWebhook,
  options: RecordsOptions<Abi | readonly AbiItem[]> = {},
): Records | CompatibleRecords | AptosRecords {
  // Callers without TypeScript may pass any value, which `toEvmRecords` refuses.
  return callByWebhook<Records | CompatibleRecords | AptosRecords>(
    { evm: (source: RecordSource) => toEvmRecords(source, options), aptos: toAptosRecords },
    Object(webhook) as object,
  );
}
