/** Composes the tables of the chain families. */
import type { AbiItem } from '../contract/shapes.generated.ts';
import type { WebhookRows } from '../postgres/table.ts';
import { APTOS_TABLES, readAptosTables } from './aptos/tables.ts';
import { EVM_TABLES, readEvmTables } from './evm/tables.ts';
import { callByWebhook, familyOfWebhook } from './webhooks.ts';
import type { AnyWebhook } from './webhooks.ts';

export { eventSignature, eventTableName, toEventTable } from './evm/tables.ts';

/** The tables of each family, except those of events. */
export const TABLES_BY_FAMILY = { evm: EVM_TABLES, aptos: APTOS_TABLES } as const;

/** A chain family with tables. */
export type TableFamily = keyof typeof TABLES_BY_FAMILY;

/** Returns the family whose tables a webhook is written to. */
export const tableFamilyOf = (webhook: AnyWebhook): TableFamily => familyOfWebhook(webhook);

/**
 * Converts a webhook to rows.
 *
 * @param abi decodes the logs of an EVM stream
 */
export const readTables = (webhook: AnyWebhook, abi: readonly AbiItem[] | undefined): WebhookRows =>
  callByWebhook<WebhookRows>(
    { evm: (each) => readEvmTables(each, abi), aptos: readAptosTables },
    webhook,
  );
