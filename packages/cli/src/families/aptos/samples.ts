import type { AptosWebhook } from '@sluice/kit';
import { sampleAptosWebhook } from '@sluice/kit/testing';

export const APTOS_SAMPLES: Readonly<Record<string, () => AptosWebhook>> = {
  'aptos-coin-transfer': () => sampleAptosWebhook('coin-transfer'),
  'aptos-test': () => sampleAptosWebhook('test'),
};
