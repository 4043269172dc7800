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

/** The chain family to accept, or `any` for all. */
export type WebhookFamily = Family | 'any';

/** A verified delivery of any chain family. */
export type AnyReceived = ReceivedWebhooks[Family];

/** A webhook of any chain family. */
export type AnyWebhook = AnyReceived['webhook'];

// `webhooks.test-d.ts` checks that these two functions return every family. Their types are inferred.

/** Returns the family of a webhook. */
export const familyOfWebhook = (webhook: object) => (isAptosWebhook(webhook) ? 'aptos' : 'evm');

/** Returns the family whose webhooks have the fields of a body; undefined if none has. */
export const findWebhookFamily = (body: object) =>
  isEvmBody(body) ? 'evm' : isAptosBody(body) ? 'aptos' : undefined;

/** Calls the function for the family of a webhook. */
export const callByWebhook = <Result>(
  functions: Readonly<Record<Family, (webhook: never) => Result>>,
  webhook: object,
): Result => functions[familyOfWebhook(webhook)](webhook as never);
