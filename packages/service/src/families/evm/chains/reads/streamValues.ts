/** Lists the values that streams read, and the decimals of their units. */
import type { Token } from '../../../../store/enrichment/contract.ts';
import type { BlockRef } from '../../../../store/blocks/contract.ts';
import type { EvmStreamRecord } from '../../../../store/streams/contract.ts';
import { FilterError } from '../../match/filter.ts';
import {
  type CompiledReads,
  type ReadValue,
  MAX_READ_VALUES,
  compileReads,
} from './compileReads.ts';

export interface ListedValues {
  /** The values by key, each once. */
  reads: Map<string, ReadValue>;
  /** Why the balances of its addresses are not among them; undefined if they are. */
  problem: string | undefined;
}

export interface StreamValues {
  /** Returns the values of a stream in the state of a block. */
  list(record: EvmStreamRecord, blockNumber: number): Promise<ListedValues>;
  /** Returns the decimals of a value; null if its token reports none. */
  decimalsOf(block: BlockRef, read: ReadValue): Promise<number | null>;
}

const TOO_MANY = `its addresses, with the children of its factories, have more than ${MAX_READ_VALUES} values: list addresses in of`;

/** Reads of streams, compiled once for each version of their options. */
const compiled = new WeakMap<EvmStreamRecord['options'], CompiledReads>();

function readsOf({ options }: EvmStreamRecord): CompiledReads {
  let own = compiled.get(options);
  if (own === undefined) {
    own = compileStored(options);
    compiled.set(options, own);
  }
  return own;
}

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
    async list(record, upTo) {
      const { fixed, ofAddress } = readsOf(record);
      const most = Math.floor((MAX_READ_VALUES - fixed.length) / ofAddress.length);
      const addresses = ofAddress.length === 0 ? [] : await addressesOf(record, { most, upTo });
      const balances =
        addresses === 'many' ? [] : ofAddress.flatMap((of) => addresses.map((each) => of(each)));
      return {
        reads: new Map([...fixed, ...balances].map((read) => [read.key, read])),
        problem: addresses === 'many' ? TOO_MANY : undefined,
      };
    },
    decimalsOf: async (block, read) =>
      read.token === undefined
        ? read.decimals
        : ((await readToken(block, read.token))?.decimals ?? null),
  };
}
