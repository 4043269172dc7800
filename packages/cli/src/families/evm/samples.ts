import type { EvmWebhook } from '@sluice/kit';
import { type SampleKind, sampleWebhook } from '@sluice/kit/testing';

const KINDS = [
  'erc20-transfer',
  'erc20-approval',
  'erc721-transfer',
  'erc1155-transfer',
  'erc1155-batch-transfer',
  'nft-approval-for-all',
  'native-transfer',
  'internal-transfer',
  'call',
  'failed-call',
  'read',
  'test',
] as const satisfies SampleKind[];

export const EVM_SAMPLES: Readonly<Record<string, () => EvmWebhook>> = Object.fromEntries(
  KINDS.map((kind) => [kind, () => sampleWebhook(kind)]),
);
