/** Tries to hash a header by known layouts, and by appending unknown fields. */
import { keccak256 } from '@sluice/kit/contract';
import type { Json } from '../../../../ingest/json.ts';
import { SourceError } from '../../../../ingest/source.ts';
import { encodeUnknown, hashOf, listKnownFields } from './headerFields.ts';
import { listOrders } from './orders.ts';
import { encodeList, encodeRlp } from '../proof/rlp.ts';

/** Result of hashing a header with these fields appended: the hashed bytes if the hash matches. */
interface Attempt {
  names: readonly string[];
  encoded: Buffer | undefined;
}

export interface HeaderTrial {
  /** Returns the bytes that hash to the block hash by a known layout; undefined if none does. */
  hashKnown(): Buffer | undefined;
  /** As above, with these fields appended. */
  hashWith(names: readonly string[]): Buffer | undefined;
  /** Yields attempts to append some of these fields, at most {@link SEARCH_HASHES}. */
  search(unknown: readonly string[]): Generator<Attempt>;
}

/** Maximum number of hashes of a search. */
export const SEARCH_HASHES = 2_000;
/** Maximum number of bytes that a search hashes, which limits the cost of very long headers. */
const SEARCH_BYTES = 8 * 1024 * 1024;
/** Maximum number of hashes with the same fields, each of which may be bytes or a number. */
const MAX_KINDS = 64;

/** Creates a trial of a header. A header whose fields have unexpected forms has no hash. */
export function createHeaderTrial(header: Json): HeaderTrial {
  const kinds = new Map<string, readonly Buffer[]>();
  const kindsOf = (name: string): readonly Buffer[] => {
    const known = kinds.get(name) ?? encodeUnknown(header[name]);
    kinds.set(name, known);
    return known;
  };
  /** Encoded fields without the prefix of their list, so that fields can be appended. */
  const bases = once(() =>
    orNothing(() => [...listPayloads(header)].filter(({ isBase }) => isBase)),
  );
  const hash = once(() => orNothing(() => [hashOf(header)])[0]);

  const tryHash = (payload: Buffer, appended: readonly Buffer[]): Buffer | undefined => {
    const encoded = encodeList([payload, ...appended]);
    return keccak256(encoded) === hash() ? encoded : undefined;
  };

  function* append(names: readonly string[]): Generator<Attempt> {
    for (const fields of combine(names.map(kindsOf))) {
      for (const { payload } of bases()) yield { names, encoded: tryHash(payload, fields) };
    }
  }

  return {
    hashKnown: () =>
      orNothing(() => {
        for (const { payload } of listPayloads(header)) {
          const encoded = tryHash(payload, []);
          if (encoded !== undefined) return [encoded];
        }
        return [];
      })[0],

    hashWith(names) {
      for (const { encoded } of take(append(names), MAX_KINDS)) {
        if (encoded !== undefined) return encoded;
      }
      return undefined;
    },

    *search(unknown) {
      const usable = unknown.filter((name) => kindsOf(name).length > 0);
      const length = bases()[0]?.payload.length ?? 0;
      const limit = Math.min(SEARCH_HASHES, Math.floor(SEARCH_BYTES / (length + 1)));
      yield* take(attempts(), limit);

      function* attempts(): Generator<Attempt> {
        for (const order of listOrders(usable.length)) yield* append(order.map((n) => usable[n]!));
      }
    },
  };
}

function* listPayloads(header: Json): Generator<{ payload: Buffer; isBase: boolean }> {
  for (const { fields, isBase } of listKnownFields(header)) {
    yield { payload: Buffer.concat(fields.map(encodeRlp)), isBase };
  }
}

/** Returns nothing if a field has an unexpected form. */
function orNothing<T>(read: () => T[]): T[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof SourceError) return [];
    throw error;
  }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Yields at most `count` items. */
function* take<T>(items: Iterable<T>, count: number): Generator<T> {
  if (count <= 0) return;
  for (const item of items) {
    yield item;
    if (--count <= 0) return;
  }
}

/** Yields each selection of one item per list. */
function* combine<T>(
  lists: readonly (readonly T[])[],
  chosen: readonly T[] = [],
): Generator<readonly T[]> {
  const next = lists[chosen.length];
  if (next === undefined) yield chosen;
  else for (const item of next) yield* combine(lists, [...chosen, item]);
}
