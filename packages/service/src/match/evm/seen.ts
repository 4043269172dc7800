/** Which events the addresses of a stream had in a block, whatever it takes of them. Pure. */
import type { SeenEvent } from '@sluice/kit/contract';
import type { EvmBlock, EvmLog } from './block.ts';
import { matchBlock, type CompiledStream, type StreamIndex } from './match.ts';
import { mostSeen } from '../seen.ts';

/**
 * Of all streams of the index together, most frequent first: all events that they name, and at most
 * 20 that they do not. Possible spam is counted too.
 */
export function countSeenEvents(index: StreamIndex, chain: string, block: EvmBlock): SeenEvent[] {
  const seen = new Map<EvmLog, CompiledStream>();
  matchBlock(index, chain, block, undefined, (stream, record) => {
    if ('topics' in record) seen.set(record, stream);
    // Why it is taken or not is not asked.
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
