/**
 * Finds close matches: logs and calls that a single `gt`, `gte`, `lt` or `lte` of a filter excluded.
 */
import type { CloseMatch } from '@sluice/kit/contract';
import type { EvmBlock, EvmCall, EvmLog } from './block.ts';
import { involves, matchBlock, type CompiledStream, type EvmStreams } from './match.ts';

/** Maximum number of comparisons to report. Handwritten filters have fewer. */
const MAX_RULES = 20;

/**
 * Counts the close matches by comparison, most frequent first. Expects an index with a single
 * stream, because each log or call is counted only once.
 */
export function findCloseMatches(
  index: EvmStreams,
  chain: string,
  block: EvmBlock,
  spam: ReadonlySet<string> = new Set(),
): CloseMatch[] {
  const keptOut = new Map<EvmLog | EvmCall, CompiledStream>();
  const matches = matchBlock(
    index,
    chain,
    block,
    spam,
    (stream, record) =>
      ({ stage, outcome }) => {
        const isKeptOut = stage === 'filter' && outcome === 'stopped';
        if (isKeptOut && ('topics' in record || 'traceAddress' in record)) {
          keptOut.set(record, stream);
        }
      },
  );
  // Records that matched through another option, or along with another one, are not close matches.
  for (const { logs, calls } of matches) {
    for (const record of [...logs, ...calls]) keptOut.delete(record);
  }

  const rules = new Map<string, Omit<CloseMatch, 'min' | 'max'> & { values: bigint[] }>();
  const missOf = (record: EvmLog | EvmCall, { selection }: CompiledStream) =>
    'topics' in record
      ? selection.missOf(record, { chain, possibleSpam: spam.has(record.address) })
      : selection.calls?.missOf(record, { chain, possibleSpam: involves(spam, record) });
  for (const [record, stream] of keptOut) {
    const miss = missOf(record, stream);
    if (miss === undefined) continue;
    const { wanted, actual, ...compared } = miss;
    const filterValue = String(wanted);
    const key = JSON.stringify([compared, filterValue]);
    const rule = rules.get(key) ?? { ...compared, filterValue, count: 0, values: [] };
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
