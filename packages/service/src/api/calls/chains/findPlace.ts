/** Finds the block for a query: a hash, block number, ledger version or delivery id. */
import { CHAIN_FORMATS, familyOf, type Explanation } from '@sluice/kit/contract';
import * as z from 'zod';
import { messageOf } from '../../../base/errors.ts';
import type { ChainCalls } from '../../../chains/calls.ts';
import type { Store } from '../../../store/store.ts';
import type { ChainReport } from '../../../store/leases/contract.ts';
import type { ApiFamilies } from '../../family.ts';

/** A block, and the part of it that the query refers to. */
export interface Place {
  kind: Explanation['kind'];
  chain: string;
  /** Hash or number of the block. */
  at: number | string;
  transactionHash?: string | undefined;
  /** Ledger version of the query. */
  version?: number | undefined;
  /** Stream and transactions of a delivery, to which the explanation is limited. */
  delivery?: { streamId: string; transactions: ReadonlySet<string> } | undefined;
}

export interface PlaceSources {
  store: Pick<Store, 'findBlock' | 'findTransaction' | 'listTransactionsOf' | 'readDelivery'>;
  chains(): readonly Pick<ChainReport, 'id'>[];
  families: ApiFamilies;
  callsOf(chain: string): Pick<ChainCalls, 'explain' | 'findTransaction' | 'heightOf'> | undefined;
}

/** Returns the {@link Place} of a query, or a readable reason why it was not found. */
export type FindPlace = (query: string, chain: string | undefined) => Promise<Place | string>;

export function createFindPlace({ store, chains, families, callsOf }: PlaceSources): FindPlace {
  /** Returns the hash or height to look up a block by. */
  const atOf = (chain: string, block: { number: number; hash: string }): number | string =>
    families[familyOf(chain)].findsByHash ? block.hash : block.number;

  /** Returns the chains to search: only the named chain, or all. */
  const candidates = (named: string | undefined): string[] =>
    named === undefined ? chains().map(({ id }) => id) : [named];

  const findDelivery = async (id: string): Promise<Place | string> => {
    const delivery = await store.readDelivery(id);
    if (delivery === undefined) {
      return 'No delivery has this ID: it never existed, or its retention period has ended';
    }
    const { chainId: chain, blockNumber: number, blockHash: hash, streamId } = delivery;
    const transactions = await store.listTransactionsOf(id);
    return {
      kind: 'delivery',
      chain,
      at: atOf(chain, { number, hash }),
      delivery: { streamId, transactions: new Set(transactions) },
    };
  };

  const findInLedger = async (
    hash: string,
    named: string | undefined,
  ): Promise<Place | undefined> => {
    const known = await store.findTransaction(hash);
    if (known !== undefined && (named === undefined || named === known.chain)) {
      const { chain, block } = known;
      return { kind: 'transaction', chain, at: atOf(chain, block), transactionHash: hash };
    }
    const block = await store.findBlock(hash);
    if (block !== undefined && (named === undefined || named === block.chain)) {
      return { kind: 'block', chain: block.chain, at: atOf(block.chain, block.block) };
    }
    return undefined;
  };

  const findAtNodes = async (hash: string, named: string | undefined): Promise<Place | string> => {
    const problems: string[] = [];
    for (const chain of candidates(named)) {
      const calls = callsOf(chain);
      if (calls === undefined) continue;
      try {
        const found = await calls.findTransaction(hash);
        if (found === 'pending') {
          return `The transaction is not in a block of ${chain} yet: try again later`;
        }
        if (found !== undefined) {
          return { kind: 'transaction', chain, at: found.at, transactionHash: hash };
        }
        if (
          families[familyOf(chain)].findsByHash &&
          (await calls.explain(hash, {})) !== undefined
        ) {
          return { kind: 'block', chain, at: hash };
        }
      } catch (error) {
        problems.push(messageOf(error));
      }
    }
    return [
      `${named ?? 'No configured chain'} has ${named === undefined ? 'a' : 'no'} transaction or block ${hash}`,
      ...problems,
    ].join('. ');
  };

  const findNumber = async (number: number, named: string | undefined): Promise<Place | string> => {
    const [chain, ...others] = candidates(named);
    if (chain === undefined) {
      const flags = Object.values(CHAIN_FORMATS).map(({ nodeSetting }) => `--${nodeSetting}`);
      return `No chain is configured: start the service with ${flags.join(' or ')}`;
    }
    if (others.length > 0) {
      return `Several chains may have a block ${number}: choose one of ${[chain, ...others].join(', ')}`;
    }
    if (families[familyOf(chain)].numbers === 'block') return { kind: 'block', chain, at: number };
    try {
      const at = await callsOf(chain)?.heightOf?.(number);
      if (at !== undefined) return { kind: 'version', chain, at, version: number };
    } catch (error) {
      return messageOf(error);
    }
    return `${chain} is not read: start the service with --${CHAIN_FORMATS[familyOf(chain)].nodeSetting}`;
  };

  return async (query, named) => {
    if (z.uuid().safeParse(query).success) return findDelivery(query.toLowerCase());
    if (/^0x[0-9a-f]{64}$/i.test(query)) {
      const hash = query.toLowerCase();
      return (await findInLedger(hash, named)) ?? findAtNodes(hash, named);
    }
    const digits = query.replaceAll(/[,_\s]/g, '');
    if (/^\d{1,15}$/.test(digits)) return findNumber(Number(digits), named);
    return `${JSON.stringify(query)} is not a transaction or block hash, block number, ledger version, address, ENS name or delivery ID`;
  };
}
