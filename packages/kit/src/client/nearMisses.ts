/** Adds up close matches over the blocks of a dry run. */
import type { NearMiss } from '../contract/shapes.generated.ts';

/** Merges two lists, most frequent first, with one entry for each rule. */
export function mergeNearMisses(
  known: readonly NearMiss[],
  found: readonly NearMiss[],
): NearMiss[] {
  const rules = new Map(known.map((each) => [ruleOfNearMiss(each), each]));
  for (const each of found) {
    const before = rules.get(ruleOfNearMiss(each));
    rules.set(
      ruleOfNearMiss(each),
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

/** Returns the rule of a close match as a key: event, parameter, operator and value. */
export const ruleOfNearMiss = ({ event, name, operator, wanted }: NearMiss): string =>
  `${event} ${name} ${operator} ${wanted}`;
