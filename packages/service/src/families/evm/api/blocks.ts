/** Calls about existing blocks: dry runs, sending one block, and backfills. */
import { randomUUID } from 'node:crypto';
import type { EvmDryRun, EvmWebhook } from '@sluice/kit/contract';
import type { EvmCalls } from '../chains/calls.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamRecord,
} from '../../../store/streams/contract.ts';
import type { Store } from '../../../store/store.ts';
import { notFound, setAuditTarget } from '../../../api/httpErrors.ts';
import type { Handlers } from '../../../api/handlers.ts';
import { chainNotRead } from '../../../api/calls/chains/findChain.ts';
import { requireFamily } from '../../../api/calls/streams/findStream.ts';
import { type EvmStreamNeeds, refuseContradictions, withOptions } from './streams.ts';

export interface EvmBlockNeeds extends Pick<EvmStreamNeeds, 'checkOptions'> {
  store: Store;
  /** Returns the calls of a chain; undefined if the chain is not read. */
  callsOf(chain: string): EvmCalls | undefined;
}

export function createEvmBlockHandlers({ store, callsOf, checkOptions }: EvmBlockNeeds) {
  const requireCalls = (chain: string): EvmCalls => {
    const calls = callsOf(chain);
    if (calls === undefined) throw chainNotRead(chain);
    return calls;
  };

  const requireStream = async (id: string): Promise<EvmStreamRecord> =>
    requireFamily(await store.readStream(id), 'evm');

  /** @throws HttpError 422 if the options are invalid or contradict each other */
  const toChecked = (
    stream: EvmStreamRecord,
    wanted: Omit<EvmDryRun, 'block'>,
    body: unknown,
  ): EvmStreamRecord => {
    const { tag = stream.tag } = wanted;
    const record = { ...stream, tag, options: withOptions(stream.options, wanted) };
    refuseContradictions(record.options, body, checkOptions(record.options, body));
    return record;
  };

  return {
    async dryRunEvmBlock({ params: { chainId: chain, blockNumber }, body: wanted, sent }) {
      const calls = requireCalls(chain);
      const record = toChecked(newStream(chain), wanted, sent.body);
      const { webhook } = await calls.dryRun(blockNumber, record, wanted.addresses ?? []);
      return webhook ?? emptyWebhook(chain, record);
    },

    async dryRunEvm({ params: { chainId: chain }, body, sent }) {
      const calls = requireCalls(chain);
      const { block, streamId, addresses, ...wanted } = body;
      const stream = streamId === undefined ? newStream(chain) : await requireStream(streamId);
      const record = toChecked(stream, wanted, sent.body);
      return calls.dryRun(block, record, addresses ?? (streamId === undefined ? [] : undefined));
    },

    async sendEvmBlock({ params: { chainId, blockNumber, streamId } }) {
      const calls = requireCalls(chainId);
      const { id } = await requireStream(streamId);
      return calls.sendBlock(blockNumber, id, randomUUID());
    },

    async createHistoricalJob({ context, body: wanted }) {
      requireCalls(wanted.chainId);
      await requireStream(wanted.streamId);
      const job = await store.createJob({
        streamId: wanted.streamId,
        destination: wanted.destination,
        chain: wanted.chainId,
        blockFrom: wanted.blockFrom,
        blockTo: wanted.blockTo,
      });
      if (job === undefined) {
        throw notFound(wanted.destination === undefined ? 'Stream' : 'Destination');
      }
      setAuditTarget(context, job.id);
      return {
        message: `Backfill of blocks ${wanted.blockFrom} to ${wanted.blockTo} started`,
        totalPartitions: 1,
        jobId: job.id,
      };
    },
  } satisfies Partial<Handlers>;
}

/** Returns a stream with default options for a dry run. */
const newStream = (chain: string): EvmStreamRecord => ({
  family: 'evm',
  id: '',
  tag: '',
  description: '',
  webhookUrl: '',
  chainIds: [chain],
  options: DEFAULT_OPTIONS,
  ...DEFAULT_DELIVERY,
  status: 'active',
  statusMessage: '',
  errorSince: null,
  addressCount: 0,
  childCount: 0,
  createdAt: 0,
  updatedAt: 0,
});

/** Returns the response to a dry run that matched nothing: a webhook without records. */
const emptyWebhook = (chain: string, { tag, options }: EvmStreamRecord): Partial<EvmWebhook> => ({
  chainId: chain,
  abi: options.abi ?? [],
  streamId: '',
  tag,
  logs: [],
  txs: [],
  txsInternal: [],
  erc20Transfers: [],
  erc20Approvals: [],
  nftTokenApprovals: [],
  nftApprovals: { ERC721: [], ERC1155: [] },
  nftTransfers: [],
  nativeBalances: [],
});
