/** Which logs of a block a stream nearly took: all but one comparison of a filter let them pass. Pure. */
import type { NearMiss } from '@sluice/kit/contract';
import type { EvmBlock, EvmLog } from './block.ts';
import { matchBlock, type CompiledStream, type StreamIndex } from './match.ts';

/** Rules that are told of; more than people write. */
const MAX_RULES = 20;

/** Of all streams of the index together, by rule, most frequent first. */
export function findNearMisses(
  index: StreamIndex,
  chain: string,
  block: EvmBlock,
  spam?: ReadonlySet<string>,
): NearMiss[] {
  const keptOut = new Map<EvmLog, CompiledStream>();
  const matches = matchBlock(
    index,
    chain,
    block,
    spam,
    (stream, record) =>
      ({ stage, outcome }) => {
        if (stage === 'filter' && outcome === 'stopped') keptOut.set(record as EvmLog, stream);
      },
  );
  // Another of its options took it, or another record of its transaction brought it along.
  for (const { logs } of matches) for (const log of logs) keptOut.delete(log);

  const rules = new Map<string, Omit<NearMiss, 'min' | 'max'> & { values: bigint[] }>();
  for (const [log, stream] of keptOut) {
    const context = { chain, possibleSpam: spam?.has(log.address) ?? false };
    const miss = stream.selection.missOf(log, context);
    if (miss === undefined) continue;
    const { event, name, operator, actual } = miss;
    const wanted = String(miss.wanted);
    const key = JSON.stringify([event, name, operator, wanted]);
    const rule = rules.get(key) ?? { event, name, operator, wanted, count: 0, values: [] };
    rule.count++;
    rule.values.push(actual);
    rules.set(key, rule);
  }
  return [...rules.values()]
    .toSorted((a, b) => b.count - a.count)
    .slice(0, MAX_RULES)
    .map(({ values, ...rule }) => ({
      ...rule,
      min: String(values.reduce((a, b) => (a < b ? a : b))),
      max: String(values.reduce((a, b) => (a > b ? a : b))),
    }));
}
