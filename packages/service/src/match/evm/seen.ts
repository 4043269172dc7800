/**
 * Counts the events of a stream's addresses in a block, whether the stream takes them or not. Pure.
 */
import type { SeenEvent } from '@sluice/kit/contract';
import type { EvmBlock, EvmLog } from './block.ts';
import { matchBlock, type CompiledStream, type StreamIndex } from './match.ts';
import { mostSeen } from '../seen.ts';

/**
 * Counts events over all streams of the index, most frequent first: all that the streams name, and
 * at most 20 others. Possible spam is included.
 */
export function countSeenEvents(index: StreamIndex, chain: string, block: EvmBlock): SeenEvent[] {
  const seen = new Map<EvmLog, CompiledStream>();
  matchBlock(index, chain, block, undefined, (stream, record) => {
    if ('topics' in record) seen.set(record, stream);
    // Reasons are not needed.
    return undefined;
  });

  const named = new Set<string>();
  const events = new Map<string, SeenEvent>();
  for (const [{ topics }, { selection }] of seen) {
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
  return mostSeen([...events.values()], ({ topic0 }) => named.has(topic0));
}
