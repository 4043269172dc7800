/**
 * Types of the arguments of an `as const` ABI. Unlike in abitype's own mapping, every integer is a
 * bigint, as in decoded values.
 */
import type { DecodedValue } from '../contract/rules/abi/values.ts';

type Hex = `0x${string}`;

/** A parameter of an `as const` ABI. */
export interface Parameter {
  readonly type: string;
  readonly name?: string | undefined;
  readonly indexed?: boolean | undefined;
  readonly components?: readonly Parameter[] | undefined;
}

/** The arguments of an event or function with these inputs, by name. */
export type ArgsOf<Inputs extends readonly Parameter[]> = number extends Inputs['length']
  ? { readonly [name: string]: DecodedValue }
  : Args<Inputs>;

export type Flatten<T> = { [K in keyof T]: T[K] };

type Args<Parameters extends readonly Parameter[]> = {
  readonly [
    Position in Exclude<keyof Parameters, keyof (readonly unknown[])> as NameOf<
      Parameters[Position],
      Position
    >
  ]: Parameters[Position] extends { readonly indexed: true; readonly type: infer Type }
    ? Type extends 'string' | 'bytes' | `tuple${string}` | `${string}]`
      ? Hex
      : ValueOf<Parameters[Position]>
    : ValueOf<Parameters[Position]>;
};

type NameOf<P, Position> = P extends { readonly name: infer Name extends string }
  ? Name extends ''
    ? `arg${Position & string}`
    : Name
  : `arg${Position & string}`;

type ValueOf<P> = P extends { readonly type: infer Type extends string }
  ? TypeValue<
      Type,
      P extends { readonly components: infer Components extends readonly Parameter[] }
        ? Components
        : readonly []
    >
  : never;

type TypeValue<
  Type extends string,
  Components extends readonly Parameter[],
> = Type extends `${infer Element}[${string}]${infer Rest}`
  ? readonly TypeValue<`${Element}${Rest}`, Components>[]
  : Type extends 'tuple'
    ? Args<Components>
    : Type extends `uint${string}` | `int${string}`
      ? bigint
      : Type extends 'address' | 'function' | `bytes${string}`
        ? Hex
        : Type extends 'bool'
          ? boolean
          : Type extends 'string'
            ? string
            : DecodedValue;

/** A decoded event or function of an ABI, with the name and the arguments of the item. */
export type DecodedItem<Item, Kind extends 'event' | 'function', Decoded> = Item extends {
  readonly type: infer Type extends string;
  readonly name?: infer Name extends string | undefined;
  readonly inputs?: infer Inputs extends readonly Parameter[] | undefined;
}
  ? string extends Type
    ? Decoded
    : Type extends Kind
      ? Flatten<
          Omit<Decoded, 'name' | 'args'> & {
            readonly name: Name;
            readonly args: Inputs extends readonly Parameter[] ? ArgsOf<Inputs> : {};
          }
        >
      : never
  : never;
