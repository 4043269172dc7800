/**
 * Explains why webhooks were or were not sent, for a block, transaction, delivery, address or name.
 */
import {
  type Explanation,
  type ResolvedName,
  type StreamVerdict,
  padAptosAddress,
  toAddress,
  toChainId,
} from '@sluice/kit/contract';
import { messageOf } from '../../../base/errors.ts';
import type { AptosCalls, ChainCalls, EvmCalls } from '../../../chains/calls.ts';
import { eachStream } from '../../../store/streams/eachStream.ts';
import type { ChainReport } from '../../../store/upkeep/contract.ts';
import type { Store } from '../../../store/store.ts';
import type { Handlers } from '../../handlers.ts';
import { createExplainBlock } from './explainBlock.ts';
import { firstVerdicts, toWatchVerdict } from './explainVerdict.ts';
import { createFindPlace } from './findPlace.ts';
import { resolveName } from './names.ts';

export interface ExplainHandlerNeeds {
  store: Store;
  chains(): ChainReport[];
  callsOf(chain: string): EvmCalls | undefined;
  aptosCallsOf(chain: string): AptosCalls | undefined;
}

/** Matches ENS names ending in `.eth`. Only `GET /sluice/names/{ensName}` resolves other names. */
const NAME = /^[^\s/:]+\.eth$/i;

export function createExplainHandler(needs: ExplainHandlerNeeds) {
  const { store, chains, aptosCallsOf } = needs;
  const callsOf = (chain: string): Pick<ChainCalls, 'findTransaction' | 'explain'> | undefined =>
    needs.callsOf(chain) ?? aptosCallsOf(chain);
  const findPlace = createFindPlace({ store, chains, callsOf, aptosCallsOf });
  const explainBlock = createExplainBlock({ store, chains, callsOf });

  const explainAddress = async (query: string, address: string): Promise<Explanation> => {
    const watchers = await store.listWatchers(address);
    const labels = new Map(watchers.map(({ streamId, label }) => [streamId, label]));
    const verdicts: StreamVerdict[] = [];
    for await (const stream of eachStream(store, address.length === 66 ? 'aptos' : 'evm')) {
      verdicts.push(toWatchVerdict(stream, labels));
    }
    const watching = verdicts.filter(({ verdict }) => verdict === 'watched').length;
    return {
      ...nothing(query),
      kind: 'address',
      message: `${watching} of ${verdicts.length} streams watch ${address}`,
      streams: firstVerdicts(verdicts),
    };
  };

  const explainName = async (query: string): Promise<Explanation> => {
    let resolved: ResolvedName;
    try {
      resolved = await resolveName(query, needs);
    } catch (error) {
      return { ...nothing(query), message: messageOf(error) };
    }
    const { name, address } = resolved;
    const explained = await explainAddress(query, address);
    return { ...explained, message: `${name} is ${address}. ${explained.message}` };
  };

  return {
    async explain({ query: { q, chain } }) {
      const named = chain === undefined ? undefined : (toChainId(chain) ?? chain);
      const query = q.trim();
      if (NAME.test(query)) return explainName(query);
      const address = readAddress(query);
      if (address !== undefined) return explainAddress(query, address);
      const place = await findPlace(query, named);
      if (typeof place !== 'string') return explainBlock(query, place);
      // An unknown hash may be the address of an Aptos account, which has the same length.
      const account = padAptosAddress(query);
      if (account !== undefined && (await store.listWatchers(account)).length > 0) {
        return explainAddress(query, account);
      }
      return { ...nothing(query), message: place };
    },
  } satisfies Partial<Handlers>;
}

/**
 * Returns the address in a query: an EVM address, or an Aptos address that is shorter than a hash;
 * undefined for any other query.
 */
function readAddress(query: string): string | undefined {
  if (/^0x[0-9a-f]{40}$/i.test(query)) return toAddress(query);
  return /^0x[0-9a-f]{1,63}$/i.test(query) ? padAptosAddress(query) : undefined;
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
