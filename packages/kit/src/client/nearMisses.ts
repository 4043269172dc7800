/** What filters nearly let pass, added up over the blocks of a dry run. Pure. */
import type { NearMiss } from '../contract/shapes.generated.ts';

/** Both lists as one, most frequent first: the same rule of another block is the same entry. */
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

/** What a near miss was held against, as a key: event, parameter, comparison and bound. */
export const ruleOfNearMiss = ({ event, name, operator, wanted }: NearMiss): string =>
  `${event} ${name} ${operator} ${wanted}`;
