/** Matches a past block against a stream. */
import { CHAIN_FORMATS, STREAM_FIELDS, familyOfFields } from '@sluice/kit/contract';
import { type BlockMatch, DRY_RUNS } from '@sluice/kit/operator';
import type { StreamSummary } from '@sluice/kit/sluice';
import type { Connection } from '../connection/connection.ts';
import { webhooksLike } from '../families/webhooks.ts';
import type { Fields } from './streamFields.ts';

/** A stream to try, which may not exist yet. */
export interface TriedStream {
  family: StreamSummary['family'];
  /** Chains, as fields of streams name them. */
  chains: readonly string[];
  /** The fields of a dry run that describe the stream. */
  rule: Fields;
}

/** Returns an existing stream, whose fields and addresses the service reads itself. */
export const tryStored = ({ id, family, chainIds }: StreamSummary): TriedStream => ({
  family,
  chains: chainIds,
  rule: { streamId: id },
});

export function tryDeclared(fields: Fields, addresses: readonly string[]): TriedStream {
  const family = familyOfFields(fields);
  const matching = Object.entries(fields).filter(([name]) => STREAM_FIELDS[family][name]?.isTried);
  return {
    family,
    chains: (fields[CHAIN_FORMATS[family].streamField] ?? []) as string[],
    rule: { ...Object.fromEntries(matching), addresses },
  };
}

interface BlockRequest {
  stream: Pick<TriedStream, 'family' | 'rule'>;
  chain: string;
  block: number;
  /** Hash of a transaction. If set, the webhook contains only records of this transaction. */
  tx: string | undefined;
}

/** Matches one block. Nothing is sent or stored. */
export async function matchBlock(
  { sluice }: Connection,
  { stream: { family, rule }, chain, block, tx }: BlockRequest,
): Promise<BlockMatch> {
  const match = await DRY_RUNS[family](sluice, chain, { ...rule, block });
  if (tx === undefined) return match;
  // Values belong to the block, not to a transaction.
  const { webhook, valuesWebhook: _, values: __, ...rest } = match;
  const own = webhook === null ? undefined : webhooksLike(webhook).onlyOf(webhook, tx);
  return { ...rest, webhook: own ?? null };
}
