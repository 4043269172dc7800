/** Schemas of the event filters, triggers and native balances of a stream. */
import * as z from 'zod';
import { component, namedRequest, requestShape, typed } from '../named.ts';
import type { AdvancedOption, NativeBalanceSelection, StreamTrigger } from '../shapes.generated.ts';
import { functionSchema } from './abi.ts';
import { recordKind, triggerKinds } from './enums.ts';

export const advancedOptionSchema: z.ZodType<AdvancedOption> = namedRequest(
  'AdvancedOption',
  'A filter on one event; grammar in `docs/filter.md`.',
  z.strictObject({
    topic0: z.string(),
    filter: z.record(z.string(), z.unknown()).optional(),
    includeNativeTxs: z.boolean().optional(),
  }),
);

export const nativeBalanceSelectionSchema: z.ZodType<NativeBalanceSelection> = namedRequest(
  'NativeBalanceSelection',
  'Accounts whose native balance is read at the block, by `selectors` such as `$fromAddress`.',
  z.strictObject({
    selectors: z.array(z.string()).max(100, { error: 'should have at most 100 selectors' }),
    type: recordKind,
  }),
);

export const triggerSchema: z.ZodType<StreamTrigger> = component(
  'Trigger',
  requestShape(
    'StreamTrigger',
    'A read-only call made for each record of a kind; rules in `docs/contract.md`, "Triggers and native balances".',
    z.strictObject({
      type: z.enum(triggerKinds),
      contractAddress: z.string(),
      functionAbi: typed('AbiItem', functionSchema),
      inputs: z.array(z.unknown()).optional(),
      topic0: z.string().optional(),
      callFrom: z.string().optional(),
    }),
  ),
);
