/** Lists the functions whose calls a stream sends, and those that an ABI offers. */
import type { AbiItem } from '@sluice/kit';
import { ANY_FUNCTION, parseFunctionSignature, writeFunction } from '@sluice/kit/contract';
import { linesOf } from '../../../routes/streamForm/draft/draft.ts';

export interface CalledFunction {
  /** The signature with the names of the parameters or, if it is unknown, the selector. */
  signature: string;
  /** Its first four bytes, in lowercase hex. */
  selector: string;
}

/**
 * Returns the functions of the field, without those that are not valid.
 * @param abi names the functions that are given by selector.
 */
export const listCalled = (text: string, abi: readonly AbiItem[]): CalledFunction[] =>
  bySelector(
    linesOf(text).flatMap((line) => {
      const { selector, item } = parseFunctionSignature(line) ?? {};
      if (selector === undefined) return [];
      const known = functionsOf(abi).find((each) => each.selector === selector);
      return [{ signature: item === undefined ? (known?.signature ?? line) : line, selector }];
    }),
  );

/**
 * Returns the functions of an ABI that transactions call and the field does not list; empty if the
 * field lists every call.
 */
export function offerFunctions(text: string, abi: readonly AbiItem[]): CalledFunction[] {
  if (linesOf(text).includes(ANY_FUNCTION)) return [];
  const listed = new Set(listCalled(text, []).map(({ selector }) => selector));
  const changing = abi.filter(
    ({ stateMutability }) => stateMutability !== 'view' && stateMutability !== 'pure',
  );
  return functionsOf(changing).filter(({ selector }) => !listed.has(selector));
}

export const withFunction = (text: string, { signature }: CalledFunction): string =>
  [...linesOf(text), signature].join('\n');

/** Returns the text without the lines of a function. */
export const withoutFunction = (text: string, { selector }: CalledFunction): string =>
  linesOf(text)
    .filter((line) => parseFunctionSignature(line)?.selector !== selector)
    .join('\n');

const functionsOf = (abi: readonly AbiItem[]): CalledFunction[] =>
  bySelector(
    abi.flatMap((item) => {
      if (item.type !== 'function') return [];
      const signature = writeFunction(item);
      const selector = parseFunctionSignature(signature)?.selector;
      return selector === undefined ? [] : [{ signature, selector }];
    }),
  );

/** Returns the first function of each selector. */
const bySelector = (functions: readonly CalledFunction[]): CalledFunction[] =>
  [...new Map(functions.toReversed().map((each) => [each.selector, each])).values()].toReversed();
