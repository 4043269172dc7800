import { erc20Abi, parseAbi } from 'viem';
import { expectTypeOf } from 'vitest';
import type { AbiItem, EvmWebhook, WebhookTrigger } from '../contract/shapes.generated.ts';
import type { CompatibleRecords } from '../records/compatibleRows.ts';
import type { LogRow, Records } from '../records/rows.ts';
import { toRecords } from './records.ts';

declare const webhook: EvmWebhook;

// The ABI in a webhook is not known at compile time, so its rows have general types.
expectTypeOf(toRecords(webhook)).toEqualTypeOf<Records>();
expectTypeOf(toRecords(webhook, { ids: 'distinct' })).toEqualTypeOf<Records>();
const compatible = toRecords(webhook, { ids: 'compatible' });
expectTypeOf(compatible).toEqualTypeOf<CompatibleRecords>();
expectTypeOf<(typeof compatible.erc20Transfers)[number]['logIndex']>().toEqualTypeOf<string>();
expectTypeOf<(typeof compatible.logs)[number]['logIndex']>().toEqualTypeOf<number>();
expectTypeOf(compatible.internalTxs[0]).not.toHaveProperty('internalTransactionIndex');
expectTypeOf(toRecords(webhook, { abi: [] as AbiItem[] }).logs).toEqualTypeOf<LogRow[]>();

// The name of the event determines the other columns of a row.
for (const row of toRecords(webhook, { abi: erc20Abi, ids: 'compatible' }).logs) {
  expectTypeOf(row.triggers).toEqualTypeOf<readonly WebhookTrigger[] | undefined>();
  if (row.name === 'Transfer') expectTypeOf(row.from).toEqualTypeOf<string>();
}
for (const row of toRecords(webhook, { abi: erc20Abi }).logs) {
  expectTypeOf(row.name).toEqualTypeOf<'Transfer' | 'Approval'>();
  expectTypeOf(row.triggers).toEqualTypeOf<readonly WebhookTrigger[] | null>();
  if (row.name === 'Transfer') expectTypeOf(row.from).toEqualTypeOf<string>();
  // @ts-expect-error a parameter of another event
  else void row.from;
}

// A parameter with a reserved name is also prefixed in the type.
const [reserved] = toRecords(webhook, {
  abi: parseAbi(['event Named(uint256 id, string name, uint256[] list)']),
}).logs;
if (reserved) {
  expectTypeOf(reserved.__id).toEqualTypeOf<string>();
  expectTypeOf(reserved._name).toEqualTypeOf<string>();
  expectTypeOf(reserved.list).toEqualTypeOf<string>();
  expectTypeOf(reserved.name).toEqualTypeOf<'Named'>();
}
