/** Explains one block: its progress, and the verdict of each stream. */
import {
  type Explanation,
  type StreamVerdict,
  confirmationsOf,
  familyOf,
} from '@sluice/kit/contract';
import { messageOf } from '../../../base/errors.ts';
import type { ChainCalls, ExplainedBlock } from '../../../chains/calls.ts';
import { heightsOf } from '../../../chains/chainReports.ts';
import type { LedgerMatch } from '../../../store/blocks/contract.ts';
import { laneOf } from '../../../store/rows/laneIds.ts';
import { eachStream } from '../../../store/streams/eachStream.ts';
import type { Store } from '../../../store/store.ts';
import type { ChainReport } from '../../../store/leases/contract.ts';
import {
  type BlockFacts,
  firstVerdicts,
  toBlockStages,
  toStreamVerdict,
} from './explainVerdict.ts';
import type { Place } from './findPlace.ts';

const RECORDS = 50;
/**
 * Maximum number of records in the explanation of a delivery, about as many as a body of
 * `DEFAULT_MAX_WEBHOOK_BYTES` can contain. They take 4.4 MB in a response, and 50 kB compressed.
 */
const RECORDS_OF_DELIVERY = 20_000;

type BlockRef = Pick<ExplainedBlock['block'], 'number' | 'hash'>;

export interface BlockSources {
  store: Store;
  chains(): ChainReport[];
  callsOf(chain: string): Pick<ChainCalls, 'explain' | 'explainValues'> | undefined;
}

export function createExplainBlock({ store, chains, callsOf }: BlockSources) {
  /**
   * Returns the block from the nodes, with the result of matching it. If the nodes fail, returns
   * the reason, which the explanation reports.
   */
  const queryNodes = async ({
    chain,
    at,
    transactionHash,
    version,
    delivery,
  }: Place): Promise<{ explained?: ExplainedBlock | undefined; trouble?: string }> => {
    const transactions =
      delivery?.transactions ??
      (transactionHash === undefined ? undefined : new Set([transactionHash]));
    try {
      return { explained: await callsOf(chain)?.explain(at, { transactions, version }) };
    } catch (error) {
      return { trouble: messageOf(error) };
    }
  };

  const findInLedger = async ({ chain, at }: Place): Promise<BlockRef | undefined> =>
    typeof at === 'number' ? store.readBlockAt(chain, at) : (await store.findBlock(at))?.block;

  /** Returns the values that streams read in the block, by stream. A transaction has none. */
  const explainValues = async (
    { chain, transactionHash, version }: Place,
    ref: BlockRef,
    timestamp: number | undefined,
  ): Promise<BlockFacts['values']> =>
    transactionHash === undefined && version === undefined
      ? ((await callsOf(chain)?.explainValues({ ...ref, timestamp })) ?? new Map())
      : new Map();

  const readFacts = async (
    place: Place,
    health: ChainReport | undefined,
    ref: BlockRef | undefined,
    explained: ExplainedBlock | undefined,
    matches: readonly LedgerMatch[],
  ): Promise<BlockFacts> => {
    const { chain } = place;
    const committed = ref === undefined ? undefined : await store.readBlockAt(chain, ref.number);
    const [newest] = await store.listGaps({ chain, limit: 1 });
    const isReplaced = committed !== undefined && committed.hash !== ref?.hash;
    const ofBlock =
      ref === undefined || isReplaced ? [] : await store.readUnverifiedCodes(chain, ref.number);
    return {
      chain,
      number: ref?.number,
      // A halted chain may have been replaced, so only the blocks of the window are certainly its own.
      halt:
        newest?.kind === 'halted' && newest.endedAt === null && committed?.hash !== ref?.hash
          ? newest.reason
          : undefined,
      unverified: [...new Set([...ofBlock, ...matches.flatMap((match) => match.unverified)])],
      confirmations: health?.confirmations ?? confirmationsOf(chain),
      heights: heightsOf(health),
      records: explained?.streams,
      // The ledger has values only for the blocks that are on the chain now.
      values:
        ref === undefined || committed?.hash !== ref.hash
          ? new Map()
          : await explainValues(place, ref, explained?.block.timestamp),
      checkpoint: health?.checkpoint ?? (await store.readCheckpoint(chain))?.number ?? null,
      isReplaced,
      committedAt: isReplaced ? null : (committed?.committedAt ?? null),
      timestamp: explained?.block.timestamp,
    };
  };

  const judgeStreams = async (
    { chain, delivery }: Place,
    facts: BlockFacts,
    matches: readonly LedgerMatch[],
  ): Promise<StreamVerdict[]> => {
    const most = delivery === undefined ? RECORDS : RECORDS_OF_DELIVERY;
    const backOffs = new Map(
      matches.length === 0
        ? []
        : (await store.listBackOffs()).map((each) => [each.streamId, each] as const),
    );
    const destinations = matches.length === 0 ? [] : await store.listDestinations();
    const verdicts: StreamVerdict[] = [];
    for await (const stream of eachStream(store, familyOf(chain))) {
      if (delivery !== undefined && delivery.streamId !== stream.id) continue;
      const its = matches.filter((match) => match.streamId === stream.id);
      const isIncluded = [
        ...(facts.records?.get(stream.id) ?? []),
        ...(facts.values.get(stream.id) ?? []),
      ].some(({ included }) => included);
      const coverage =
        its.length === 0 && isIncluded
          ? (await store.readCoverage(stream.id)).find(({ chainId }) => chainId === chain)
          : undefined;
      verdicts.push(
        toStreamVerdict(stream, facts, its, {
          coverage,
          most,
          backOffOf: (each) => backOffs.get(laneOf(each)),
          destinations: destinations
            .filter((each) => each.streamId === stream.id)
            .map((each) => each.destination),
        }),
      );
    }
    return verdicts;
  };

  return async (query: string, place: Place): Promise<Explanation> => {
    const { kind, chain, at, transactionHash, version } = place;
    const { explained, trouble } = await queryNodes(place);
    const ref = explained?.block ?? (await findInLedger(place));
    const health = chains().find(({ id }) => id === chain);
    const matches =
      ref === undefined ? [] : await store.listMatchesOf(chain, ref.hash, transactionHash);
    const facts = await readFacts(place, health, ref, explained, matches);
    const verdicts = await judgeStreams(place, facts, matches);
    const matched = verdicts.filter(({ deliveries }) => deliveries.length > 0).length;
    return {
      query,
      kind,
      chainId: chain,
      block:
        ref === undefined
          ? null
          : {
              number: ref.number,
              hash: ref.hash,
              timestamp: facts.timestamp ?? null,
              committedAt: facts.committedAt,
              unverified: facts.unverified,
            },
      transactionHash:
        transactionHash ?? (version === undefined ? null : (explained?.transaction?.hash ?? null)),
      transaction: explained?.transaction ?? null,
      message:
        trouble ??
        (ref === undefined
          ? `No node of ${chain} has block ${at}`
          : `Block ${ref.number} of ${chain}: ${matched} of ${verdicts.length} streams have deliveries for it`),
      stages: toBlockStages(facts, health, trouble),
      streams: firstVerdicts(verdicts),
    };
  };
}
