/**
 * Calls about blocks that are there already: dry run, one block to its webhook, backfills, and what was
 * evaluated at all.
 */
import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import * as z from 'zod';
import {
  type ChainResumed,
  type DryRunBlock,
  type EvmDryRun,
  type EvmDryRunAnswer,
  type EvmWebhook,
  type HistoricalJobAnswer,
  JOB_STATES,
  type StreamCoverage,
  dryRunBlockSchema,
  evmDryRunSchema,
  historicalJobSchema,
} from '@sluice/kit/contract';
import type { NameAnswer } from '../../ensNames.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamRecord,
  type Store,
  type Token,
} from '../../store/store.ts';
import {
  HttpError,
  check,
  notFound,
  readId,
  setAuditTarget,
  validationFailed,
} from '../answers.ts';
import { takeQuery } from '../query.ts';
import { readJson } from '../body.ts';
import type { AptosCalls } from './aptosBlocks.ts';
import { notRead, readChain } from './findChain.ts';
import type { ExplainCalls } from './explain.ts';
import { ofFamily } from './findStream.ts';
import { withGiven } from './streamCalls.ts';
import { type EvmStreamNeeds, refuseContradictions } from './streams.ts';

export interface BlockHandlers {
  dryRun(context: Context): Promise<Response>;
  /** Ours, which also reads and tells what was close. */
  dryRunEvm(context: Context): Promise<Response>;
  sendBlock(context: Context): Promise<Response>;
  createJob(context: Context): Promise<Response>;
  listJobs(context: Context): Promise<Response>;
  getJob(context: Context): Promise<Response>;
  setJobState(context: Context): Promise<Response>;
  getCoverage(context: Context): Promise<Response>;
  resumeChain(context: Context): Promise<Response>;
}

/** What can be asked of a chain of either family. All of it fails with a reason for people. */
export interface BlockCalls extends ExplainCalls {
  /** Queues what the stream matches in the block; answers with the records in it. */
  sendBlock(blockNumber: number, streamId: string, requestId: string): Promise<number>;
  resume(from: number | undefined, requestId: string): Promise<number>;
}

/** What the handlers need of an EVM chain that is read. */
export interface ChainCalls extends BlockCalls {
  /** What this stream would get of the block. */
  dryRun(
    blockNumber: number,
    record: EvmStreamRecord,
    addresses: readonly string[],
  ): Promise<EvmDryRunAnswer>;
  /** What a proxy forwards to; undefined where the contract is none that is known. */
  readImplementation(address: string): Promise<string | undefined>;
  readContract(address: string): Promise<{ isContract: boolean; token: Token | null }>;
  readName(name: string): Promise<NameAnswer>;
}

export interface BlockHandlerNeeds extends Pick<EvmStreamNeeds, 'checkOptions'> {
  store: Store;
  /** Undefined for a chain that is not read, or is none of EVM. */
  callsOf(chain: string): ChainCalls | undefined;
  /** The same of an Aptos network. */
  aptosCallsOf(chain: string): AptosCalls | undefined;
}

const JOBS_PER_LIST = 100;

export const setJobStateSchema = z.strictObject({
  state: z.enum(['paused', 'running', 'cancelled'], {
    error: 'should be one of paused, running, cancelled',
  }),
});
export const listJobsQuerySchema = z.object({
  streamId: z.uuid({ error: 'should be a stream id, a UUID' }).optional(),
});
export const resumeSchema = z.strictObject({
  from: z
    .int({ error: 'should be a block number' })
    .min(1, { error: 'should be a block number, 1 or more' })
    .optional(),
});

export function createBlockHandlers({
  store,
  callsOf,
  aptosCallsOf,
  checkOptions,
}: BlockHandlerNeeds): BlockHandlers {
  const chainOf = (
    context: Context,
    name: 'chainId' | 'id',
  ): { chain: string; calls: ChainCalls } => {
    const chain = readChain(context, name);
    return { chain, calls: requireCalls(chain) };
  };

  const requireCalls = (chain: string): ChainCalls => {
    const calls = callsOf(chain);
    if (calls === undefined) throw notRead(chain);
    return calls;
  };

  const readBlockNumber = (context: Context): number => {
    const given = context.req.param('blockNumber') ?? '';
    const number = /^\d+$/.test(given) ? Number(given) : Number.NaN;
    if (Number.isSafeInteger(number)) return number;
    const message = 'should be a block number, decimal';
    throw validationFailed('path', [{ path: ['blockNumber'], message }], { blockNumber: given });
  };

  const requireStream = async (id: string): Promise<EvmStreamRecord> =>
    ofFamily(await store.readStream(id), 'evm');

  /** @throws HttpError where the options contradict each other */
  const toChecked = (chain: string, wanted: DryRunBlock | EvmDryRun, body: unknown) => {
    const record = toRecord(chain, wanted);
    refuseContradictions(record.options, body, checkOptions(record.options));
    return record;
  };

  return {
    async dryRun(context) {
      const { chain, calls } = chainOf(context, 'chainId');
      const blockNumber = readBlockNumber(context);
      const body = readJson(context) ?? {};
      const wanted = check(dryRunBlockSchema, 'requestBody', body);
      const record = toChecked(chain, wanted, body);
      const { webhook } = await calls.dryRun(blockNumber, record, wanted.addresses ?? []);
      return context.json(webhook ?? emptyWebhook(chain, record));
    },

    async dryRunEvm(context) {
      const { chain, calls } = chainOf(context, 'chainId');
      const body = readJson(context);
      const { block, addresses = [], ...wanted } = check(evmDryRunSchema, 'requestBody', body);
      const record = toChecked(chain, { ...wanted, addresses }, body);
      return context.json(await calls.dryRun(block, record, addresses));
    },

    async sendBlock(context) {
      const { calls } = chainOf(context, 'chainId');
      const blockNumber = readBlockNumber(context);
      const { id } = await requireStream(readId(context, 'stream', 'streamId'));
      return context.json(await calls.sendBlock(blockNumber, id, randomUUID()));
    },

    async createJob(context) {
      const wanted = check(historicalJobSchema, 'requestBody', readJson(context));
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
      return context.json({
        message: `Backfill of ${wanted.blockTo - wanted.blockFrom + 1} blocks begun`,
        totalPartitions: 1,
        jobId: job.id,
      } satisfies HistoricalJobAnswer);
    },

    async listJobs(context) {
      const { streamId } = takeQuery(context, listJobsQuerySchema).query;
      return context.json({ result: await store.listJobs({ streamId, limit: JOBS_PER_LIST }) });
    },

    async getJob(context) {
      const job = await store.readJob(readId(context, 'job'));
      if (job === undefined) throw notFound('Job');
      return context.json(job);
    },

    async setJobState(context) {
      const id = readId(context, 'job');
      const { state } = check(setJobStateSchema, 'requestBody', readJson(context));
      const before = await store.readJob(id);
      if (before === undefined) throw notFound('Job');
      const job = before.state === state ? before : await store.setJobState(id, state, '');
      if (job === undefined) {
        throw new HttpError(409, `A job that is ${before.state} cannot become ${state}`, {
          'requestBody.state': {
            message: `should be another state: of ${JOB_STATES.join(', ')}, done and cancelled are final`,
            value: state,
          },
        });
      }
      return context.json(job);
    },

    async getCoverage(context) {
      const id = readId(context, 'stream');
      if ((await store.readStream(id)) === undefined) throw notFound('Stream');
      return context.json({ result: await store.readCoverage(id) } satisfies StreamCoverage);
    },

    async resumeChain(context) {
      const id = context.req.param('id') ?? '';
      const aptos = aptosCallsOf(id);
      const { chain, calls } =
        aptos === undefined ? chainOf(context, 'id') : { chain: id, calls: aptos };
      const { from } = check(resumeSchema, 'requestBody', readJson(context) ?? {});
      return context.json({
        chainId: chain,
        from: await calls.resume(from, context.get('requestId') as string),
      } satisfies ChainResumed);
    },
  };
}

/** A stream for as long as a dry run takes. */
function toRecord(chain: string, wanted: DryRunBlock): EvmStreamRecord {
  return {
    family: 'evm',
    id: '',
    tag: wanted.tag ?? '',
    description: '',
    webhookUrl: '',
    chainIds: [chain],
    options: withGiven(DEFAULT_OPTIONS, wanted),
    ...DEFAULT_DELIVERY,
    status: 'active',
    statusMessage: '',
    errorSince: null,
    addressCount: wanted.addresses?.length ?? 0,
    createdAt: 0,
    updatedAt: 0,
  };
}

/** What a dry run answers where nothing matches: no webhook would be sent. */
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
