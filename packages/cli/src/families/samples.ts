/** Composes the kinds of sample webhooks of `sluice trigger`. */
import type { NetworkType } from '@sluice/kit';
import type { AnyWebhook } from '@sluice/kit/contract';
import { APTOS_SAMPLES } from './aptos/samples.ts';
import { EVM_SAMPLES } from './evm/samples.ts';

/** Sample webhooks by the argument that selects them. */
export type Samples = Readonly<Record<string, () => AnyWebhook>>;

const SAMPLES_BY_FAMILY: Readonly<Record<NetworkType, Samples>> = {
  evm: EVM_SAMPLES,
  aptos: APTOS_SAMPLES,
};

export const SAMPLES: Samples = Object.assign({}, ...Object.values(SAMPLES_BY_FAMILY));
