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

/** Returns a key for the rule of a close match, from what it selects, parameter, operator and value. */
export const ruleOfCloseMatch = (closeMatch: CloseMatch): string =>
  [
    closeMatch.event === undefined ? 'function' : 'event',
    signatureOfCloseMatch(closeMatch),
    closeMatch.name,
    closeMatch.operator,
    closeMatch.filterValue,
  ].join(' ');

/** Returns the event or function of a close match. */
export const signatureOfCloseMatch = ({ event, function: called }: CloseMatch): string =>
  event ?? called ?? '';

/** Returns the name of the event or function of a close match, without its parameters. */
export const nameOfCloseMatch = (closeMatch: CloseMatch): string =>
  signatureOfCloseMatch(closeMatch).split('(')[0]!;
