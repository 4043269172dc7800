import type { Abi } from 'abitype';
import type { AbiItem } from '../contract/shapes.generated.ts';

/** Fields as callers may pass them: read-only lists, any spelling of chain ids, `as const` ABIs. */
export type Given<Shape> = {
  readonly [K in keyof Shape as Exclude<K, 'chainId' | 'chainIds' | 'abi'>]: Accepts<Shape[K]>;
} & ('chainIds' extends keyof Shape
  ? {
      /** Hex (`0x89`), decimal strings (`'137'`) or numbers (`137`); at least one. */
      readonly chainIds: readonly (string | number)[];
    }
  : unknown) &
  ('abi' extends keyof Shape
    ? {
        /** Event items for decoding. An `as const` ABI is accepted. */
        readonly abi?: readonly AbiItem[] | Abi | null | undefined;
      }
    : unknown);

type Accepts<T> = T extends (infer Item)[] ? readonly Item[] : T;
