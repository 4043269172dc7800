/** Composes the webhooks of the chain families. */
import { isAptosBody, isAptosWebhook } from './aptos/webhook.ts';
import type { ReceivedAptosWebhook } from './aptos/webhook.ts';
import { isEvmBody } from './evm/webhook.ts';
import type { ReceivedWebhook } from './evm/webhook.ts';

export { isAptosWebhook } from './aptos/webhook.ts';
export type { ReceivedAptosWebhook } from './aptos/webhook.ts';
export type { ReceivedWebhook } from './evm/webhook.ts';

/** Verified webhooks by chain family. */
export interface ReceivedWebhooks {
  evm: ReceivedWebhook;
  aptos: ReceivedAptosWebhook;
}

type Family = keyof ReceivedWebhooks;

/** The chain family to accept, or `any` for both. */
export type WebhookFamily = Family | 'any';

/** A verified delivery of any chain family. */
export type AnyReceived = ReceivedWebhooks[Family];

/** A webhook of any chain family. */
export type AnyWebhook = AnyReceived['webhook'];

/** Returns the family of a webhook. */
export const familyOfWebhook = (webhook: AnyWebhook): Family =>
  isAptosWebhook(webhook) ? 'aptos' : 'evm';

/** Returns the family whose webhooks have the fields of a body; undefined if none has. */
export const findWebhookFamily = (body: object): Family | undefined =>
  isEvmBody(body) ? 'evm' : isAptosBody(body) ? 'aptos' : undefined;
