import type { SluiceClient } from '../client/sluice.ts';
import type { CallOptions } from '../client/request.ts';
import type { CloseMatch, ObservedEvent, ObservedMovePath } from '../contract/shapes.generated.ts';
import type { AnyWebhook } from '../families/webhooks.ts';

/** The result of matching one block against a stream. */
export interface BlockMatch {
  /** The webhook; null if nothing matches. */
  readonly webhook: AnyWebhook | null;
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
  client: SluiceClient,
  chain: string,
  fields: Readonly<Record<string, unknown>> & { readonly block: number },
  options?: CallOptions,
) => Promise<BlockMatch>;
