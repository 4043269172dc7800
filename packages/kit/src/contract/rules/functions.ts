/** Converts signatures of functions, from text or an ABI item, to selectors. */
import { itemSignature, parseItem } from './signatures.ts';
import { keccak256 } from './hash.ts';
import type { AbiItem, AbiParameter } from '../shapes.generated.ts';

export interface FunctionSignature {
  /** The first four bytes of the hash of the signature, in lowercase hex. */
  selector: string;
  /** The function with the names in the text; omitted if only a selector was given. */
  item?: AbiItem;
}

/** Selects every call, whatever its input. */
export const ANY_FUNCTION = '*';

const SELECTOR = /^0[xX][0-9a-fA-F]{8}$/;

/**
 * Parses a function from its 4-byte selector or from text: canonical (`transfer(address,uint256)`)
 * or as in Solidity (`function transfer(address to, uint value) external returns (bool)`), with
 * tuples in parentheses. Returns undefined for anything else.
 */
export function parseFunctionSignature(text: string): FunctionSignature | undefined {
  if (SELECTOR.test(text)) return { selector: text.toLowerCase() };
  const item = parseItem(text, 'function');
  return item && { selector: functionSelector(item), item };
}

/** Returns the selector of an ABI function, or of a custom error. */
export const functionSelector = (item: AbiItem): string =>
  keccak256(itemSignature(item)).slice(0, '0x12345678'.length);

/** Returns the selector of a call's input in lowercase; undefined if the input is too short. */
export function selectorOf(input: string): string | undefined {
  const selector = input.slice(0, 10).toLowerCase();
  return SELECTOR.test(selector) ? selector : undefined;
}

/**
 * Writes an ABI function as text that {@link parseFunctionSignature} reads, with its names.
 *
 * @param part whether to write the outputs, too. Default: only the inputs
 */
export const writeFunction = (
  { name = '', inputs, outputs = [] }: AbiItem,
  part?: 'with outputs',
): string =>
  part === undefined || outputs.length === 0
    ? `${name}${writeList(inputs)}`
    : `${name}${writeList(inputs)} returns ${writeList(outputs)}`;

const writeList = (parameters: readonly AbiParameter[] = []): string =>
  `(${parameters.map(writeParameter).join(', ')})`;

function writeParameter({ name, type, components }: AbiParameter): string {
  const written = components ? writeList(components) + type.slice('tuple'.length) : type;
  return name === '' ? written : `${written} ${name}`;
}
