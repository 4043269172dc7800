/** What filters nearly let pass, added up over the blocks of a dry run. Pure. */
import type { NearMiss } from '@sluice/kit/sluice';

/** The same rule of another block is the same entry. */
export function withNear(known: readonly NearMiss[], found: readonly NearMiss[]): NearMiss[] {
  const rules = new Map(known.map((each) => [ruleOf(each), each]));
  for (const each of found) {
    const before = rules.get(ruleOf(each));
    rules.set(
      ruleOf(each),
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
  return [...rules.values()].toSorted((a, b) => b.count - a.count);
}

export const ruleOf = ({ event, name, operator, wanted }: NearMiss): string =>
  `${event} ${name} ${operator} ${wanted}`;
