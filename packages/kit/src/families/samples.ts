/** Composes the sample webhooks. */
import { countChargedAptosRecords } from './aptos/samples.ts';
import { countChargedEvmRecords } from './evm/samples.ts';
import { type AnyWebhook, callByWebhook } from './webhooks.ts';

export { type AptosSampleKind, sampleAptosWebhook } from './aptos/samples.ts';
export { type SampleKind, sampleWebhook } from './evm/samples.ts';

/** Returns the number of records in the header `x-records-charged`. */
export const countChargedRecords = (webhook: AnyWebhook): number =>
  callByWebhook({ evm: countChargedEvmRecords, aptos: countChargedAptosRecords }, webhook);
