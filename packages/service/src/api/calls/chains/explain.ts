/**
 * Explains why webhooks were or were not sent, for a block, transaction, delivery, address or name.
 */
import {
  type ChainFamily,
  type Explanation,
  type ResolvedName,
  type StreamVerdict,
  familyOf,
  toChainId,
} from '@sluice/kit/contract';
import { messageOf } from '../../../base/errors.ts';
import type { ChainCalls } from '../../../chains/calls.ts';
import { eachStream } from '../../../store/streams/eachStream.ts';
import type { ChainReport } from '../../../store/leases/contract.ts';
import type { Store } from '../../../store/store.ts';
import type { StreamRecord } from '../../../store/streams/contract.ts';
import type { ApiFamilies, ApiFamily } from '../../family.ts';
import type { Handlers } from '../../handlers.ts';
import { createExplainBlock } from './explainBlock.ts';
import { type Watch, firstVerdicts, toWatchVerdict } from './explainVerdict.ts';
import { createFindPlace } from './findPlace.ts';

export interface ExplainHandlerNeeds {
  store: Store;
  chains(): ChainReport[];
  families: ApiFamilies;
  callsOf(chain: string): ChainCalls | undefined;
  /**
   * Resolves the name of an address; undefined if the query is not a name.
   *
   * @throws Error with a readable reason if the name does not resolve
   */
  resolveQuery(query: string): Promise<ResolvedName> | undefined;
}

export function createExplainHandler(needs: ExplainHandlerNeeds) {
  const { store, families } = needs;
  const findPlace = createFindPlace(needs);
  const explainBlock = createExplainBlock(needs);

  const explainAddress = async (
    query: string,
    { address, family }: FoundAddress,
  ): Promise<Explanation> => {
    const [watchers, parents] = await Promise.all([
      store.listWatchers(address),
      store.listParents(address),
    ]);
    const listed = new Map(watchers.map(({ streamId, label }) => [streamId, label]));
    /** Returns how the stream watches the address; undefined if it does not. */
    const watchOf = (stream: StreamRecord): Watch | undefined => {
      const its = parents
        .filter(({ streamId, chain }) => streamId === stream.id && stream.chainIds.includes(chain))
        .flatMap((child) => {
          const origin = families[stream.family].describeOrigin?.(stream, child);
          return origin === undefined ? [] : { ...child, origin: `${origin} on ${child.chain}` };
        });
      const label = listed.get(stream.id) ?? its[0]?.label ?? null;
      if (listed.has(stream.id)) return { label };
      return its[0] && { label, origin: its.map(({ origin }) => origin).join(', ') };
    };
    const read = await Promise.all(
      needs
        .chains()
        .filter(({ id }) => familyOf(id) === family)
        .flatMap(({ id }) => needs.callsOf(id)?.explainValues('newest', address) ?? []),
    );
    const verdicts: StreamVerdict[] = [];
    for await (const stream of eachStream(store, family)) {
      const values = read.flatMap((byStream) => byStream.get(stream.id) ?? []);
      verdicts.push(toWatchVerdict(stream, watchOf(stream), values));
    }
    const watching = verdicts.filter(({ verdict }) => verdict === 'watched').length;
    return {
      ...nothing(query),
      kind: 'address',
      message: `${watching} of ${verdicts.length} streams watch ${address}`,
      streams: firstVerdicts(verdicts),
    };
  };

  const explainName = async (
    query: string,
    resolving: Promise<ResolvedName>,
  ): Promise<Explanation> => {
    let resolved: ResolvedName;
    try {
      resolved = await resolving;
    } catch (error) {
      return { ...nothing(query), message: messageOf(error) };
    }
    const { name, address, chainId } = resolved;
    const explained = await explainAddress(query, { address, family: familyOf(chainId) });
    return { ...explained, message: `${name} is ${address}. ${explained.message}` };
  };

  /** Returns the first address that a family reads in the query. */
  const findAddress = (
    read: (family: ApiFamily) => string | undefined,
  ): FoundAddress | undefined => {
    for (const family of Object.values(families)) {
      const address = read(family);
      if (address !== undefined) return { address, family: family.name };
    }
    return undefined;
  };

  return {
    async explain({ query: { q, chain } }) {
      const named = chain === undefined ? undefined : (toChainId(chain) ?? chain);
      const query = q.trim();
      const resolving = needs.resolveQuery(query);
      if (resolving !== undefined) return explainName(query, resolving);
      const address = findAddress((family) => family.readAddress(query));
      if (address !== undefined) return explainAddress(query, address);
      const place = await findPlace(query, named);
      if (typeof place !== 'string') return explainBlock(query, place);
      // An unknown hash may be an address of the same length.
      const account = findAddress(({ addresses }) => addresses.toAddress(query));
      if (account !== undefined && (await store.listWatchers(account.address)).length > 0) {
        return explainAddress(query, account);
      }
      return { ...nothing(query), message: place };
    },
  } satisfies Partial<Handlers>;
}

interface FoundAddress {
  address: string;
  family: ChainFamily;
}

const nothing = (query: string): Explanation => ({
  query,
  kind: 'unknown',
  chainId: null,
  block: null,
  transactionHash: null,
  transaction: null,
  message: '',
  stages: [],
  streams: [],
});
