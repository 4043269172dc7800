import { expectTypeOf } from 'vitest';
import type {
  AbiItem,
  ChainHealth,
  DeliveryDetail,
  DeliveryFilter,
  DeliveryState,
  DeliverySummary,
  DryRunResult,
  EvmWebhook,
  HistoryRecord,
  Replay,
} from './shapes.generated.ts';

// Details of the generated types that JSON Schema cannot express.
expectTypeOf<EvmWebhook['abi']>().toEqualTypeOf<readonly AbiItem[]>();
expectTypeOf<EvmWebhook['removed']>().toEqualTypeOf<true | undefined>();
expectTypeOf<DryRunResult>().toEqualTypeOf<Partial<EvmWebhook>>();
expectTypeOf<NonNullable<HistoryRecord['payload']>['logs']>().toEqualTypeOf<
  EvmWebhook['logs'] | undefined
>();
expectTypeOf<Replay['filter']>().toEqualTypeOf<DeliveryFilter>();
expectTypeOf<DeliverySummary['state']>().toEqualTypeOf<DeliveryState>();
expectTypeOf<ChainHealth['confirmations']>().toEqualTypeOf<number | 'finalized'>();
expectTypeOf<DeliveryDetail>().toExtend<DeliverySummary>();

// An optional field of a webhook may be omitted, but not set to undefined.
// @ts-expect-error
export const removed: Pick<EvmWebhook, 'removed'> = { removed: undefined };
