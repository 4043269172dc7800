/**
 * Validates the native balance selections of a stream, and finds the addresses that they select.
 */
import { type NativeBalanceSelection, selectableOf } from '@sluice/kit/contract';
import { type BodyTail, recordsOf } from './records.ts';
import { type SelectorProblem, checkSelector, isSelector } from './selectors.ts';

export function checkBalances(selections: readonly NativeBalanceSelection[]): SelectorProblem[] {
  const problems: SelectorProblem[] = [];
  const report = (path: SelectorProblem['path'], message: string): void => {
    problems.push({ path: ['getNativeBalances', ...path], message });
  };
  for (const [n, { type, selectors }] of selections.entries()) {
    const { addresses: names } = selectableOf(type);
    if (selectors.length === 0) {
      report([n, 'selectors'], `should name at least one of $${names.join(', $')}`);
    }
    for (const [at, selector] of selectors.entries()) {
      const what = `a selector for an address in ${type} records`;
      // Text without `$` is never a selector, even if it matches a field name.
      const text = isSelector(selector) ? selector : '';
      checkSelector(text, names, what, [n, 'selectors', at], report);
    }
  }
  return problems;
}

/**
 * Upper bound of a `nativeBalances` entry in bytes: an address, an amount of up to 78 digits, and
 * the keys.
 */
const BALANCE_BYTES = 170;

/** Returns the maximum growth of a body from native balances, in bytes. */
export const maxBalanceBytes = (
  selections: readonly NativeBalanceSelection[],
  tail: BodyTail,
): number =>
  selections.reduce(
    (sum, { type, selectors }) =>
      sum + recordsOf(tail, type).length * selectors.length * BALANCE_BYTES,
    0,
  );

/** Returns the selected addresses without duplicates, in the order of selections and records. */
export function addressesOf(
  selections: readonly NativeBalanceSelection[],
  tail: BodyTail,
): string[] {
  const addresses = new Set<string>();
  for (const { type, selectors } of selections) {
    for (const record of recordsOf(tail, type)) {
      for (const selector of selectors) {
        const address = record[selector.slice(1)];
        if (typeof address === 'string') addresses.add(address);
      }
    }
  }
  return [...addresses];
}
