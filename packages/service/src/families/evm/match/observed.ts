/** Counts the events of a stream's addresses in a block, including unmatched ones. */
import type { ObservedEvent } from '@sluice/kit/contract';
import type { EvmBlock, EvmLog } from './block.ts';
import { matchBlock, type CompiledStream, type EvmStreams } from './match.ts';
import { mostFrequent } from '../../../match/observed.ts';

/**
 * Counts the events of the index's only stream, most frequent first: all selected events, and at
 * most 20 others. Includes possible spam.
 */
export function countObservedEvents(
  index: EvmStreams,
  chain: string,
  block: EvmBlock,
): ObservedEvent[] {
  const observed = new Map<EvmLog, CompiledStream>();
  matchBlock(index, chain, block, undefined, (stream, record) => {
    if ('topics' in record) observed.set(record, stream);
    return undefined;
  });

  const named = new Set<string>();
  const events = new Map<string, ObservedEvent>();
  for (const [{ topics }, { selection }] of observed) {
    const [topic0, ...inputs] = topics;
    if (topic0 === undefined) continue;
    const key = `${topic0} ${inputs.length}`;
    const event = events.get(key);
    if (event !== undefined) {
      event.count++;
      continue;
    }
    if (selection.names(topic0)) named.add(topic0);
    const signature = selection.signatureOf(topic0) ?? null;
    events.set(key, { topic0, signature, indexed: inputs.length, count: 1 });
  }
  return mostFrequent([...events.values()], ({ topic0 }) => named.has(topic0));
}
