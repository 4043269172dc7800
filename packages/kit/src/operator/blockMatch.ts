import type { SluiceCalls } from '../client/sluiceCalls.ts';
import type { CallOptions } from '../client/request.ts';
import type {
  CloseMatch,
  ExplainedValue,
  ObservedEvent,
  ObservedMovePath,
} from '../contract/shapes.generated.ts';
import type { AnyWebhook } from '../families/webhooks.ts';

/** The result of matching one block against a stream. */
export interface BlockMatch {
  /** The webhook; null if nothing matches. */
  readonly webhook: AnyWebhook | null;
  /** The webhook of values on chain; null if none is sent, absent if the stream reads none. */
  readonly valuesWebhook?: AnyWebhook | null;
  /** Each value on chain, and why it is sent or not; absent if the stream reads none. */
  readonly values?: readonly ExplainedValue[];
  /** Close matches; empty for families without filters. */
  readonly closeMatches: CloseMatch[];
  readonly observed: (ObservedEvent | ObservedMovePath)[];
}

/**
 * Matches a block against a stream. Nothing is sent or stored.
 * @param chain the id of the chain, or its name in fields of streams
 * @param fields `block`, and the fields of a dry run that describe the stream
 */
export type DryRun = (
  client: SluiceCalls,
  chain: string,
  fields: Readonly<Record<string, unknown>> & { readonly block: number },
  options?: CallOptions,
) => Promise<BlockMatch>;

/** Returns the webhooks that the block would send: of records, and of values on chain. */
export const webhooksOf = ({ webhook, valuesWebhook }: BlockMatch): AnyWebhook[] =>
  [webhook, valuesWebhook].filter((each) => each != null);
