/** Composes how the webhooks of the chain families are read and sent. */
import type { NetworkType } from '@sluice/kit';
import { type AnyWebhook, familyOfWebhook } from '@sluice/kit/contract';
import { APTOS_WEBHOOKS } from './aptos/webhooks.ts';
import { EVM_WEBHOOKS } from './evm/webhooks.ts';
import type { WebhookFamily } from './webhookFamily.ts';

export const WEBHOOK_FAMILIES = {
  evm: EVM_WEBHOOKS,
  aptos: APTOS_WEBHOOKS,
} satisfies Readonly<Record<NetworkType, unknown>>;

/** Returns the family of a webhook. */
export const webhooksLike = (webhook: AnyWebhook): WebhookFamily<AnyWebhook> =>
  WEBHOOK_FAMILIES[familyOfWebhook(webhook)];
