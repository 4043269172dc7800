import type { Abi } from 'abitype';
import type { AbiItem } from '../contract/shapes.generated.ts';

/** Fields as callers may pass them: read-only lists, any form of chain ids, `as const` ABIs. */
export type Given<Shape> = {
  readonly [K in keyof Shape as Exclude<K, 'chainId' | 'chainIds' | 'abi'>]: Accepts<Shape[K]>;
} & ('chainIds' extends keyof Shape
  ? {
      /** At least one chain id: hex (`0x89`), a decimal string (`'137'`) or a number (`137`). */
      readonly chainIds: readonly (string | number)[];
    }
  : unknown) &
  ('abi' extends keyof Shape
    ? {
        /**
         * ABI for decoding: a list of items, which may be `as const`, an artifact with such a list
         * in `abi`, or the JSON text of either.
         */
        readonly abi?: AbiList | { readonly abi: AbiList } | string | null | undefined;
      }
    : unknown);

type AbiList = readonly AbiItem[] | Abi;

type Accepts<T> = T extends (infer Item)[] ? readonly Item[] : T;
