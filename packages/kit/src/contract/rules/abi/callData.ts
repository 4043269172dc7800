/** Compiles functions and custom errors of ABIs to decoders of call data and revert data. */
import { functionSelector } from '../functions.ts';
import type { AbiItem } from '../../shapes.generated.ts';
import {
  type CompiledParameters,
  type DecodedValue,
  LENIENT_OPTIONS,
  type Malformation,
  type ReadOptions,
  type ReadWord,
  attemptRead,
  compileParameters,
  parameterNames,
  readLowerAddress,
  setNamed,
} from './values.ts';

/** Decoded arguments by name. Unnamed ones are called `arg0`, `arg1`, … by position. */
export interface DecodedArguments {
  readonly [name: string]: DecodedValue;
}

export interface CompiledFunction {
  readonly item: AbiItem;
  readonly selector: string;
  /** Names of the arguments in order, as in {@link DecodedArguments}. */
  readonly names: readonly string[];
  /**
   * Decodes the arguments that follow the selector in `input`; returns the reason if that is not
   * possible. `unsupported-type`: the function has a parameter whose type cannot be decoded.
   */
  decode(
    input: string,
    options?: ReadOptions,
  ): DecodedArguments | Malformation | 'unsupported-type';
}

/** @param readAddress decodes the addresses in values. Default: to lowercase */
export function compileFunction(
  item: AbiItem,
  readAddress: ReadWord = readLowerAddress,
): CompiledFunction {
  const { inputs = [] } = item;
  const names = parameterNames(inputs);
  /** Compiled before the first call; null if a type is unsupported. */
  let compiled: CompiledParameters | null | undefined;
  return {
    item,
    selector: functionSelector(item),
    names,
    decode(input, options = LENIENT_OPTIONS) {
      compiled ??= compileParameters(inputs, readAddress) ?? null;
      const parameters = compiled;
      if (parameters === null) return 'unsupported-type';
      return attemptRead(() => {
        const args: Record<string, DecodedValue> = {};
        const values = parameters.decode(`0x${input.slice(SELECTOR_LENGTH)}`, options);
        for (const [n, value] of values.entries()) setNamed(args, names[n] ?? '', value);
        return args;
      });
    },
  };
}

const SELECTOR_LENGTH = '0x12345678'.length;
