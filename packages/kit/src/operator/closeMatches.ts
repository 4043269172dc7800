/** Combines the close matches of dry runs of several blocks. */
import type { CloseMatch } from '../contract/shapes.generated.ts';

/** Merges two lists into one, with one entry for each rule, most frequent first. */
export function mergeCloseMatches(
  known: readonly CloseMatch[],
  found: readonly CloseMatch[],
): CloseMatch[] {
  const rules = new Map(known.map((each) => [ruleOfCloseMatch(each), each]));
  for (const each of found) {
    const before = rules.get(ruleOfCloseMatch(each));
    rules.set(
      ruleOfCloseMatch(each),
      before === undefined
        ? each
        : {
            ...each,
            count: before.count + each.count,
            min: BigInt(before.min) < BigInt(each.min) ? before.min : each.min,
            max: BigInt(before.max) > BigInt(each.max) ? before.max : each.max,
          },
    );
  }
  return [...rules.values()].sort((a, b) => b.count - a.count);
}

/** Returns a key for the rule of a close match, from its event, parameter, operator and value. */
export const ruleOfCloseMatch = ({ event, name, operator, filterValue }: CloseMatch): string =>
  `${event} ${name} ${operator} ${filterValue}`;
