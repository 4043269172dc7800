/** Lists the values that streams read, and the decimals of their units. */
import type { Token } from '../../../../store/enrichment/contract.ts';
import type { BlockRef } from '../../../../store/blocks/contract.ts';
import type { EvmStreamRecord } from '../../../../store/streams/contract.ts';
import { takesChildren } from '../../match/factories.ts';
import { FilterError } from '../../match/filter.ts';
import {
  type CompiledReads,
  type ReadValue,
  MAX_READ_VALUES,
  compileReads,
} from './compileReads.ts';

export interface ListedValues {
  /** The values by key, each once. */
  reads: ReadonlyMap<string, ReadValue>;
  /** Why the balances of its addresses are not among them; undefined if they are. */
  problem: string | undefined;
}

export interface StreamValues {
  /**
   * Returns the values of a stream in the state of a block.
   *
   * @param revision of the rules that `record` is from. While it stays the same, the addresses of
   * the stream are not read again. Default: they are read
   */
  list(record: EvmStreamRecord, blockNumber: number, revision?: number): Promise<ListedValues>;
  /** Returns the decimals of a value; null if its token reports none. */
  decimalsOf(block: BlockRef, read: ReadValue): Promise<number | null>;
}

const TOO_MANY = `its addresses, with the children of its factories, have more than ${MAX_READ_VALUES} values: list addresses in of`;

/** The reads of a stream, and the values that were listed last. */
interface StreamReads extends CompiledReads {
  /** The values without balances of its addresses. */
  readonly fixedOnly: ListedValues;
  listed: { readonly revision: number; readonly values: ListedValues } | undefined;
}

/** Reads of streams, compiled once for each version of their options. */
const compiled = new WeakMap<EvmStreamRecord['options'], StreamReads>();

function readsOf({ options }: EvmStreamRecord): StreamReads {
  let own = compiled.get(options);
  if (own === undefined) {
    const reads = compileStored(options);
    own = { ...reads, fixedOnly: toListed(reads.fixed), listed: undefined };
    compiled.set(options, own);
  }
  return own;
}

const toListed = (reads: readonly ReadValue[], problem?: string): ListedValues => ({
  reads: new Map(reads.map((read) => [read.key, read])),
  problem,
});

/**
 * Compiles the reads of a stream, which are validated on save. If they fail to compile, the stream
 * reads nothing, and other streams are not affected.
 */
function compileStored(options: EvmStreamRecord['options']): CompiledReads {
  try {
    return compileReads(options);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    return { fixed: [], ofAddress: [] };
  }
}

export function createStreamValues({
  readToken,
  addressesOf,
}: {
  /** Reads the metadata of a token; undefined if the nodes refused to provide it. */
  readToken(block: BlockRef, address: string): Promise<Token | undefined>;
  /**
   * Returns the addresses that a stream watches up to a block, in lowercase; `many` if there are
   * more than `most`.
   */
  addressesOf(
    record: EvmStreamRecord,
    limits: { most: number; upTo: number },
  ): Promise<readonly string[] | 'many'>;
}): StreamValues {
  return {
    async list(record, upTo, revision) {
      const own = readsOf(record);
      const { fixed, ofAddress, fixedOnly, listed } = own;
      if (ofAddress.length === 0) return fixedOnly;
      if (revision !== undefined && listed?.revision === revision) return listed.values;
      const most = Math.floor((MAX_READ_VALUES - fixed.length) / ofAddress.length);
      const addresses = await addressesOf(record, { most, upTo });
      const values =
        addresses === 'many'
          ? toListed(fixed, TOO_MANY)
          : toListed([...fixed, ...ofAddress.flatMap((of) => addresses.map((each) => of(each)))]);
      // Blocks add children without a change of the rules.
      if (revision !== undefined && !takesChildren(record.options)) {
        own.listed = { revision, values };
      }
      return values;
    },
    decimalsOf: async (block, read) =>
      read.token === undefined
        ? read.decimals
        : ((await readToken(block, read.token))?.decimals ?? null),
  };
}
