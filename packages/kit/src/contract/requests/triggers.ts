/** Schemas of the event filters, triggers and native balances of a stream. */
import * as z from 'zod';
import { component, namedRequest, requestShape, typed } from '../named.ts';
import type { AdvancedOption, NativeBalanceSelection, StreamTrigger } from '../shapes.generated.ts';
import { functionSchema } from './abi.ts';
import { recordKind, transactionStatus, triggerKinds } from './enums.ts';

export const advancedOptionSchema: z.ZodType<AdvancedOption> = namedRequest(
  'AdvancedOption',
  'A filter on one event, named in `topic0`, or on one function, named in `function`; grammar in `docs/filter.md`.',
  z
    .strictObject({
      topic0: z.string().optional(),
      function: z
        .string()
        .optional()
        .describe('Signature or selector, or `*` for every call. Sluice only.'),
      filter: z.record(z.string(), z.unknown()).optional(),
      includeNativeTxs: z.boolean().optional().describe('Only with `topic0`.'),
      transactionStatus: transactionStatus
        .optional()
        .describe("Only with `function`. Default: the stream's. Sluice only."),
    })
    .superRefine((option, context) => {
      const refuse = (field: string, message: string): void =>
        context.addIssue({ code: 'custom', path: [field], message, input: option });
      if ((option.topic0 === undefined) === (option.function === undefined)) {
        refuse('topic0', 'should name an event, unless function names a function');
      } else if (option.topic0 === undefined && option.includeNativeTxs !== undefined) {
        refuse('includeNativeTxs', 'should be left out of the options of a function');
      } else if (option.function === undefined && option.transactionStatus !== undefined) {
        refuse('transactionStatus', 'should be left out of the options of an event');
      }
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
