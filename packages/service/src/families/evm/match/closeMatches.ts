/** Finds close matches: logs that a single `gt`, `gte`, `lt` or `lte` of a filter excluded. */
import type { CloseMatch } from '@sluice/kit/contract';
import type { EvmBlock, EvmLog } from './block.ts';
import { matchBlock, type CompiledStream, type EvmStreams } from './match.ts';

/** Maximum number of comparisons to report. Handwritten filters have fewer. */
const MAX_RULES = 20;

/**
 * Counts the close matches by comparison, most frequent first. Expects an index with a single
 * stream, because each log is counted only once.
 */
export function findCloseMatches(
  index: EvmStreams,
  chain: string,
  block: EvmBlock,
  spam?: ReadonlySet<string>,
): CloseMatch[] {
  const keptOut = new Map<EvmLog, CompiledStream>();
  const matches = matchBlock(
    index,
    chain,
    block,
    spam,
    (stream, record) =>
      ({ stage, outcome }) => {
        const isKeptOut = stage === 'filter' && outcome === 'stopped';
        if (isKeptOut && 'topics' in record) keptOut.set(record, stream);
      },
  );
  // Logs that matched through another option, or along with another record, are not close matches.
  for (const { logs } of matches) for (const log of logs) keptOut.delete(log);

  const rules = new Map<string, Omit<CloseMatch, 'min' | 'max'> & { values: bigint[] }>();
  for (const [log, stream] of keptOut) {
    const context = { chain, possibleSpam: spam?.has(log.address) ?? false };
    const miss = stream.selection.missOf(log, context);
    if (miss === undefined) continue;
    const { event, name, operator, actual } = miss;
    const filterValue = String(miss.wanted);
    const key = JSON.stringify([event, name, operator, filterValue]);
    const rule = rules.get(key) ?? { event, name, operator, filterValue, count: 0, values: [] };
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
