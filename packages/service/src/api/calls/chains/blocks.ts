/**
 * Calls about blocks: dry runs, sending one block, backfills, the coverage of a stream, and
 * resuming a chain.
 */
import { randomUUID } from 'node:crypto';
import { type EvmDryRun, type EvmWebhook, toChainId } from '@sluice/kit/contract';
import type { AptosCalls, EvmCalls } from '../../../chains/calls.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamRecord,
} from '../../../store/streams/contract.ts';
import type { Store } from '../../../store/store.ts';
import { HttpError, notFound, setAuditTarget, validationFailed } from '../../answers.ts';
import type { Handlers } from '../../handlers.ts';
import { notRead } from './findChain.ts';
import { ofFamily } from '../streams/findStream.ts';
import { withGiven } from '../streams/streamCalls.ts';
import { type EvmStreamNeeds, refuseContradictions } from '../streams/streams.ts';

export interface BlockHandlerNeeds extends Pick<EvmStreamNeeds, 'checkOptions'> {
  store: Store;
  /**
   * Returns the functions that query the nodes of an EVM chain; undefined if no EVM chain with this
   * id is read.
   */
  callsOf(chain: string): EvmCalls | undefined;
  /**
   * Returns the functions that query the nodes of an Aptos network; undefined if the network is not
   * read.
   */
  aptosCallsOf(chain: string): AptosCalls | undefined;
}

const JOBS_PER_LIST = 100;

export function createBlockHandlers({
  store,
  callsOf,
  aptosCallsOf,
  checkOptions,
}: BlockHandlerNeeds) {
  const requireCalls = (chain: string): EvmCalls => {
    const calls = callsOf(chain);
    if (calls === undefined) throw notRead(chain);
    return calls;
  };

  const requireStream = async (id: string): Promise<EvmStreamRecord> =>
    ofFamily(await store.readStream(id), 'evm');

  /** @throws HttpError 422 if the options are invalid or contradict each other */
  const toChecked = (
    stream: EvmStreamRecord,
    wanted: Omit<EvmDryRun, 'block'>,
    body: unknown,
  ): EvmStreamRecord => {
    const { tag = stream.tag } = wanted;
    const record = { ...stream, tag, options: withGiven(stream.options, wanted) };
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
        chain: wanted.chainId,
        blockFrom: wanted.blockFrom,
        blockTo: wanted.blockTo,
      });
      if (job === undefined) throw notFound('Stream');
      setAuditTarget(context, job.id);
      return {
        message: `Backfill of blocks ${wanted.blockFrom} to ${wanted.blockTo} started`,
        totalPartitions: 1,
        jobId: job.id,
      };
    },

    listJobs: async ({ query: { streamId } }) => ({
      result: await store.listJobs({ streamId, limit: JOBS_PER_LIST }),
    }),

    async getJob({ params: { id } }) {
      const job = await store.readJob(id);
      if (job === undefined) throw notFound('Job');
      return job;
    },

    async setJobState({ params: { id }, body: { state } }) {
      const before = await store.readJob(id);
      if (before === undefined) throw notFound('Job');
      const job = before.state === state ? before : await store.setJobState(id, state, '');
      if (job === undefined) {
        throw new HttpError(409, `The backfill is ${before.state} and cannot become ${state}`, {
          'requestBody.state': {
            message:
              'a backfill that is done or cancelled cannot change, and only a running one can be paused',
            value: state,
          },
        });
      }
      return job;
    },

    async getCoverage({ params: { id } }) {
      if ((await store.readStream(id)) === undefined) throw notFound('Stream');
      return { result: await store.readCoverage(id) };
    },

    async resumeChain({ context, params: { id }, body: { from } }) {
      const calls = aptosCallsOf(id);
      const chainId = calls === undefined ? requireChainId(id) : id;
      return {
        chainId,
        from: await (calls ?? requireCalls(chainId)).resume(
          from,
          context.get('requestId') as string,
        ),
      };
    },
  } satisfies Partial<Handlers>;
}

function requireChainId(given: string): string {
  const chain = toChainId(given);
  if (chain !== undefined) return chain;
  const message = 'should be a chain ID in hex, e.g. 0x1';
  throw validationFailed('path', [{ path: ['id'], message }], { id: given });
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
