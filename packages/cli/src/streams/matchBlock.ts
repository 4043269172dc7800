/** Matches a past block against a stream. */
import type { AptosWebhook, EvmWebhook } from '@sluice/kit';
import {
  APTOS_STREAM_FIELDS,
  EVM_STREAM_FIELDS,
  type StreamFieldView,
  findAptosNetwork,
} from '@sluice/kit/contract';
import type { AptosNetwork, CloseMatch, StreamSummary } from '@sluice/kit/sluice';
import type { Connection } from '../connection/connection.ts';
import { onlyOf, onlyOfAptos } from '../live/readTransaction.ts';
import type { Observed } from './describeDryRun.ts';
import { type Fields, familyOfFields } from './streamFields.ts';

/** A stream to try, which may not exist yet. */
export interface TriedStream {
  family: StreamSummary['family'];
  /** Chain IDs in hex, or Aptos networks. */
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
  const rows: Readonly<Record<string, StreamFieldView>> =
    family === 'evm' ? EVM_STREAM_FIELDS : APTOS_STREAM_FIELDS;
  const matching = Object.entries(fields).filter(([name]) => rows[name]?.isTried);
  return {
    family,
    chains: (fields['chainIds'] ?? fields['network'] ?? []) as string[],
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

interface BlockResult {
  /** The webhook; null if nothing matches. */
  webhook: EvmWebhook | AptosWebhook | null;
  /** Close matches; always empty on Aptos. */
  closeMatches: CloseMatch[];
  observed: Observed[];
}

/** Matches one block. Nothing is sent or stored. */
export async function matchBlock(
  { sluice }: Connection,
  { stream: { family, rule }, chain, block, tx }: BlockRequest,
): Promise<BlockResult> {
  const asked = { ...rule, block };
  const isComplete = tx === undefined;
  if (family === 'aptos') {
    const network = findAptosNetwork(chain) ?? (chain as AptosNetwork);
    const { webhook, observed } = await sluice.dryRunAptos(network, asked);
    const its = webhook === null || isComplete ? webhook : onlyOfAptos(webhook, tx);
    return { webhook: its ?? null, closeMatches: [], observed };
  }
  const { webhook, closeMatches, observed } = await sluice.dryRunEvm(chain, asked);
  const its = webhook === null || isComplete ? webhook : onlyOf(webhook, tx);
  return { webhook: its ?? null, closeMatches, observed };
}
