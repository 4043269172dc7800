/** Decodes the values on chain of a webhook. */
import type { StreamRead, WebhookRead } from '../contract/shapes.generated.ts';
import { SluiceError } from '../errors.ts';

/** The part of a webhook that {@link decodeReads} reads. */
export interface ReadSource {
  readonly reads?: readonly WebhookRead[] | undefined;
}

/** A value in the state of a block. */
export interface DecodedReadValue<Value = unknown> {
  readonly block: bigint;
  /**
   * Balances and integers are bigints. Lists, such as those of several outputs, are as in the
   * webhook: integers are decimal text, and structs are arrays.
   */
  readonly value: Value;
}

/** A value on chain whose type is not known at compile time. */
export interface DecodedRead<Name extends string = string, Value = unknown> extends Omit<
  Readonly<WebhookRead>,
  'before' | 'after'
> {
  /** Name of the function, or `balance`. */
  readonly name: Name;
  /** The last known value, with the last block that had it; null if there is none. */
  readonly before: DecodedReadValue<Value> | null;
  /** The value in the block of the webhook. */
  readonly after: DecodedReadValue<Value>;
}

/** A value of `as const` reads of a stream: a union over them, discriminated by `name`. */
export type DecodedReadOf<Reads extends readonly ReadEntry[]> = number extends Reads['length']
  ? DecodedRead
  : ReadOf<Reads[number]>;

/** An entry of a stream's `reads`. */
export type ReadEntry = {
  readonly [Field in keyof StreamRead]: Field extends 'of' | 'arguments'
    ? readonly unknown[] | undefined
    : StreamRead[Field];
};

type ReadOf<Read> = Read extends { readonly balance: string }
  ? DecodedRead<'balance', bigint>
  : Read extends { readonly function: infer Text extends string }
    ? DecodedRead<NameOf<Text>, Read extends { readonly output: string } ? unknown : ResultOf<Text>>
    : DecodedRead;

type NameOf<Text extends string> = Text extends `${infer Name}(${string}` ? Name : Text;

type ResultOf<Text extends string> = Text extends `${string} returns (${infer Output})`
  ? Output extends `${string},${string}` | `${string}[${string}` | `${string}(${string}`
    ? unknown
    : Output extends `uint${string}` | `int${string}`
      ? bigint
      : Output extends `bool${string}`
        ? boolean
        : string
  : unknown;

/**
 * Decodes the values on chain of a webhook.
 *
 * @param _reads the `reads` of the stream. If they are `as const`, names and values are typed.
 * @throws SluiceError `invalid_webhook` without `reads`, which only webhooks of values have.
 */
export function decodeReads<const Reads extends readonly ReadEntry[]>(
  webhook: ReadSource,
  _reads?: Reads,
): DecodedReadOf<Reads>[] {
  const reads: unknown = webhook?.reads;
  if (!Array.isArray(reads)) {
    throw new SluiceError('invalid_webhook', 'Cannot decode the values. The webhook has none.', {
      hint: 'Set reads on the stream. Its values are sent in webhooks of their own.',
    });
  }
  return decodeKnownReads(reads as WebhookRead[]) as DecodedReadOf<Reads>[];
}

/** Decodes values like {@link decodeReads}. */
export const decodeKnownReads = (reads: readonly WebhookRead[]): DecodedRead[] =>
  reads.map((read) => {
    // Only integers have decimals by default, so other text stays as it is.
    const toValue = ({ block, value }: WebhookRead['after']): DecodedReadValue => ({
      block: BigInt(block),
      value: read.decimals !== null || read.balance !== undefined ? toInteger(value) : value,
    });
    return {
      ...read,
      name: read.function === undefined ? 'balance' : read.function.split('(', 1)[0]!,
      before: read.before && toValue(read.before),
      after: toValue(read.after),
    };
  });

const toInteger = (value: unknown): unknown =>
  typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : value;
