/** Why a webhook was sent, or not: from what was asked to the block in question, and to each stream. */
import {
  type ChainFamily,
  type Explanation,
  type ExplainReason,
  type ResolvedName,
  findAptosNetwork,
  padAptosAddress,
  toAddress,
  toChainId,
} from '@sluice/kit/contract';
import * as z from 'zod';
import type { AptosCalls, ChainCalls, EvmCalls, ExplainedBlock } from '../../../chains/calls.ts';
import { ServiceError } from '../../../base/errors.ts';
import { eachStream } from '../../../store/streams/eachStream.ts';
import type { ChainReport } from '../../../store/upkeep/contract.ts';
import type { Store } from '../../../store/store.ts';
import type { Handlers } from '../../handlers.ts';
import { resolveName } from './names.ts';
import { type BlockFacts, toStreamVerdict, toWatchVerdict } from './explainVerdict.ts';

export interface ExplainHandlerNeeds {
  store: Store;
  chains(): ChainReport[];
  callsOf(chain: string): EvmCalls | undefined;
  aptosCallsOf(chain: string): AptosCalls | undefined;
}

/** Where what was asked for is to be found. */
interface Place {
  kind: Explanation['kind'];
  chain: string;
  at: number | string;
  transactionHash?: string | undefined;
  version?: number | undefined;
  /** Of a delivery: its stream and its transactions alone. */
  delivery?: { streamId: string; transactions: ReadonlySet<string> } | undefined;
}

/** Of ENS; others are looked up by `GET /sluice/names/{ensName}` alone. */
const NAME = /^[^\s/:]+\.eth$/i;
const STREAMS = 200;
const RECORDS = 50;
/** A body of `DEFAULT_MAX_WEBHOOK_BYTES` holds 10,000, which are 4.4 MB here, 50 kB of them compressed. */
const RECORDS_OF_DELIVERY = 20_000;

export function createExplainHandler(needs: ExplainHandlerNeeds) {
  const { store } = needs;
  const callsOf = (chain: string): Pick<ChainCalls, 'findTransaction' | 'explain'> | undefined =>
    needs.callsOf(chain) ?? needs.aptosCallsOf(chain);

  /** Chains that may have it, those that are read first where none is named. */
  const chainsOf = (named: string | undefined, family?: ChainFamily): string[] => {
    const all = named === undefined ? needs.chains().map(({ id }) => id) : [named];
    return family === undefined ? all : all.filter((chain) => familyOf(chain) === family);
  };

  const findHash = async (hash: string, named: string | undefined): Promise<Place | string> => {
    const known = await store.findTransaction(hash);
    if (known !== undefined && (named === undefined || named === known.chain)) {
      const { chain, block } = known;
      return { kind: 'transaction', chain, at: atOf(chain, block), transactionHash: hash };
    }
    const block = await store.findBlock(hash);
    if (block !== undefined && (named === undefined || named === block.chain)) {
      return { kind: 'block', chain: block.chain, at: atOf(block.chain, block.block) };
    }
    const problems: string[] = [];
    for (const chain of chainsOf(named)) {
      const calls = callsOf(chain);
      if (calls === undefined) continue;
      try {
        const found = await calls.findTransaction(hash);
        if (found === 'pending') {
          return `The transaction is in no block of ${chain} yet: ask again when it is`;
        }
        if (found !== undefined) {
          return { kind: 'transaction', chain, at: found.at, transactionHash: hash };
        }
        if (familyOf(chain) === 'evm' && (await calls.explain(hash, {})) !== undefined) {
          return { kind: 'block', chain, at: hash };
        }
      } catch (error) {
        problems.push(reasonOf(error));
      }
    }
    return [
      `No ${named ?? 'chain that is read'} has a transaction or block ${hash}`,
      ...problems,
    ].join('. ');
  };

  /** The place that is meant, or why there is none, for people. */
  const find = async (query: string, named: string | undefined): Promise<Place | string> => {
    if (z.uuid().safeParse(query).success) {
      const delivery = await store.readDelivery(query.toLowerCase());
      if (delivery === undefined) {
        return 'There is no delivery with this id: it was never made, or forgotten after its time';
      }
      const { chainId: chain, blockNumber: number, blockHash: hash, streamId } = delivery;
      const transactions = await store.listTransactionsOf(delivery.id);
      return {
        kind: 'delivery',
        chain,
        at: atOf(chain, { number, hash }),
        delivery: { streamId, transactions: new Set(transactions) },
      };
    }
    if (/^0x[0-9a-f]{64}$/i.test(query)) return findHash(query.toLowerCase(), named);
    const digits = query.replaceAll(/[,_\s]/g, '');
    if (/^\d{1,15}$/.test(digits)) return findNumber(Number(digits), named);
    return `${JSON.stringify(query)} is no transaction or block hash, block number, ledger version, address or delivery id`;
  };

  const findNumber = async (number: number, named: string | undefined): Promise<Place | string> => {
    const chains = chainsOf(named);
    const chain = chains[0];
    if (chain === undefined) return 'No chain is read: start the service with --chain or --aptos';
    if (chains.length > 1) {
      return `Several chains may have a block ${number}: choose one of ${chains.join(', ')}`;
    }
    if (familyOf(chain) === 'evm') return { kind: 'block', chain, at: number };
    try {
      const at = await needs.aptosCallsOf(chain)?.heightOf(number);
      if (at !== undefined) return { kind: 'version', chain, at, version: number };
    } catch (error) {
      return reasonOf(error);
    }
    return `${chain} is not read: start the service with --aptos`;
  };

  const explainAddress = async (query: string, address: string): Promise<Explanation> => {
    const watchers = await store.listWatchers(address);
    const labels = new Map(watchers.map(({ streamId, label }) => [streamId, label]));
    const verdicts = [];
    for await (const stream of eachStream(store, address.length === 66 ? 'aptos' : 'evm')) {
      verdicts.push(toWatchVerdict(stream, labels));
    }
    const watching = verdicts.filter(({ verdict }) => verdict === 'watched').length;
    return {
      ...nothing(query),
      kind: 'address',
      message: `${watching} of ${verdicts.length} streams watch ${address}`,
      streams: verdicts.toSorted(byVerdict).slice(0, STREAMS),
    };
  };

  const explainName = async (query: string): Promise<Explanation> => {
    let resolved: ResolvedName;
    try {
      resolved = await resolveName(query, needs);
    } catch (error) {
      return { ...nothing(query), message: reasonOf(error) };
    }
    const { name, address } = resolved;
    const explained = await explainAddress(query, address);
    return { ...explained, message: `${name} is ${address}. ${explained.message}` };
  };

  const explainPlace = async (query: string, place: Place): Promise<Explanation> => {
    const { kind, chain, transactionHash, version, delivery } = place;
    const transactions =
      delivery?.transactions ??
      (transactionHash === undefined ? undefined : new Set([transactionHash]));
    const health = needs.chains().find(({ id }) => id === chain);
    let explained: ExplainedBlock | undefined;
    let trouble: string | undefined;
    try {
      explained = await callsOf(chain)?.explain(place.at, { transactions, version });
    } catch (error) {
      trouble = reasonOf(error);
    }
    const given =
      typeof place.at === 'number' ? await store.readBlockAt(chain, place.at) : undefined;
    const ref =
      explained?.block ??
      given ??
      (typeof place.at === 'string' ? (await store.findBlock(place.at))?.block : undefined);
    const committed = ref === undefined ? undefined : await store.readBlockAt(chain, ref.number);
    const facts: BlockFacts = {
      chain,
      number: ref?.number,
      records: explained?.streams,
      checkpoint: health?.checkpoint ?? (await store.readCheckpoint(chain))?.number ?? null,
      isReplaced: committed !== undefined && committed.hash !== ref?.hash,
      timestamp: explained?.block.timestamp,
    };
    const matches =
      ref === undefined ? [] : await store.listMatchesOf(chain, ref.hash, transactionHash);
    const verdicts = [];
    for await (const stream of eachStream(store, familyOf(chain))) {
      if (delivery !== undefined && delivery.streamId !== stream.id) continue;
      const its = matches.filter((match) => match.streamId === stream.id);
      const isTaken = explained?.streams.get(stream.id)?.some(({ taken }) => taken) === true;
      const coverage =
        its.length === 0 && isTaken
          ? (await store.readCoverage(stream.id)).find(({ chainId }) => chainId === chain)
          : undefined;
      const most = delivery === undefined ? RECORDS : RECORDS_OF_DELIVERY;
      verdicts.push(toStreamVerdict(stream, facts, its, { coverage, most }));
    }
    const matched = verdicts.filter(({ deliveries }) => deliveries.length > 0).length;
    return {
      query,
      kind,
      chainId: chain,
      block:
        ref === undefined
          ? null
          : { number: ref.number, hash: ref.hash, timestamp: explained?.block.timestamp ?? null },
      transactionHash:
        transactionHash ??
        [...(explained?.streams.values() ?? [])].flat().find(({ index }) => index === version)
          ?.transactionHash ??
        null,
      message:
        trouble ??
        (ref === undefined
          ? `No node of ${chain} has block ${place.at}`
          : `Block ${ref.number} of ${chain}: ${matched} of ${verdicts.length} streams have deliveries of it`),
      stages: tellBlock(facts, health, explained !== undefined, trouble),
      streams: verdicts.toSorted(byVerdict).slice(0, STREAMS),
    };
  };

  return {
    async explain({ query: { q, chain } }) {
      const named = chain === undefined ? undefined : (toChainId(chain) ?? chain);
      const query = q.trim();
      if (NAME.test(query)) return explainName(query);
      const address = readAddress(query);
      if (address !== undefined) return explainAddress(query, address);
      const place = await find(query, named);
      if (typeof place !== 'string') return explainPlace(query, place);
      // What is no hash of anything may be an account of Aptos, whose addresses are as long.
      const account = padAptosAddress(query);
      if (account !== undefined && (await store.listWatchers(account)).length > 0) {
        return explainAddress(query, account);
      }
      return { ...nothing(query), message: place };
    },
  } satisfies Partial<Handlers>;
}

const familyOf = (chain: string): ChainFamily =>
  findAptosNetwork(chain) === undefined ? 'evm' : 'aptos';

/** EVM blocks are found by hash, also when they left the chain; those of Aptos by height. */
const atOf = (
  chain: string,
  { number, hash }: { number: number; hash: string },
): number | string => (familyOf(chain) === 'evm' ? hash : number);

/** Of EVM, or of Aptos where it is shorter than a hash. */
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
  message: '',
  stages: [],
  streams: [],
});

/** What a node will not say is part of the answer. */
function reasonOf(error: unknown): string {
  if (error instanceof ServiceError) return error.message;
  throw error;
}

const ORDER = [
  'failed',
  'waiting',
  'cancelled',
  'delivered',
  'watched',
  'not-evaluated',
  'not-matched',
  'not-watched',
] as const;

const byVerdict = (a: Explanation['streams'][number], b: Explanation['streams'][number]): number =>
  ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict);

function tellBlock(
  { chain, number, checkpoint, isReplaced }: BlockFacts,
  health: ChainReport | undefined,
  isSeen: boolean,
  trouble: string | undefined,
): ExplainReason[] {
  const reasons: ExplainReason[] = [
    isSeen
      ? { stage: 'seen', outcome: 'passed', what: `the nodes of ${chain} have the block` }
      : {
          stage: 'seen',
          outcome: 'unknown',
          what:
            trouble ?? (health === undefined ? `${chain} is not read` : 'no node has the block'),
        },
  ];
  if (number === undefined) return reasons;
  if (health !== undefined) {
    const have = health.providers.filter(({ head }) => head !== null && head >= number).length;
    reasons.push({
      stage: 'fetched',
      outcome: have > 0 ? 'passed' : 'waiting',
      what: `${have} of ${health.providers.length} nodes have come as far as ${number}`,
    });
  }
  reasons.push(
    isReplaced
      ? {
          stage: 'committed',
          outcome: 'stopped',
          what: 'another block took its place in the chain',
        }
      : checkpoint !== null && checkpoint >= number
        ? { stage: 'committed', outcome: 'passed', what: `committed up to block ${checkpoint}` }
        : {
            stage: 'committed',
            outcome: 'waiting',
            what:
              checkpoint === null
                ? 'nothing is committed yet'
                : `committed up to block ${checkpoint}`,
          },
  );
  return reasons;
}
