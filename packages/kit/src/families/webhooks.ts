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

/** Recognizes the webhooks of each family but EVM, to which all others belong. */
const IS_WEBHOOK: Readonly<Record<Exclude<Family, 'evm'>, (webhook: object) => boolean>> = {
  aptos: isAptosWebhook,
};

/** Recognizes parsed bodies by the fields of each family. */
const IS_BODY: Readonly<Record<Family, (body: object) => boolean>> = {
  evm: isEvmBody,
  aptos: isAptosBody,
};

/** Returns the family of a webhook. */
export const familyOfWebhook = (webhook: object): Family =>
  findFamily(IS_WEBHOOK, webhook) ?? 'evm';

/** Returns the family whose webhooks have the fields of a body; undefined if none has. */
export const findWebhookFamily = (body: object): Family | undefined => findFamily(IS_BODY, body);

const findFamily = <Each extends Family>(
  recognize: Readonly<Record<Each, (value: object) => boolean>>,
  value: object,
): Each | undefined =>
  (Object.keys(recognize) as Each[]).find((family) => recognize[family](value));

/** Calls the function for the family of a webhook. */
export const callByWebhook = <Result>(
  functions: Readonly<Record<Family, (webhook: never) => Result>>,
  webhook: object,
): Result => functions[familyOfWebhook(webhook)](webhook as never);
