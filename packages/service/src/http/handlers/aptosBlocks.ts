/** Calls about blocks of Aptos that are there already; the compatible API has them for EVM alone. */
import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import {
  type AptosBlockChoice,
  type AptosDryRunAnswer,
  type AptosNetwork,
  aptosBackfillSchema,
  aptosBlockChoiceSchema,
  aptosDryRunSchema,
  toAptosChain,
  toAptosNetwork,
} from '@sluice/kit/contract';
import {
  type AptosStreamRecord,
  DEFAULT_APTOS_OPTIONS,
  DEFAULT_LIMITS,
  type Store,
} from '../../store/store.ts';
import {
  HttpError,
  check,
  notFound,
  readId,
  setAuditTarget,
  validationFailed,
} from '../answers.ts';
import { readJson } from '../body.ts';
import { refuseContradictions } from './aptosStreams.ts';
import type { BlockCalls } from './blocks.ts';
import { ofFamily } from './findStream.ts';
import { withGiven } from './streamCalls.ts';

export interface AptosBlockHandlers {
  dryRun(context: Context): Promise<Response>;
  sendBlock(context: Context): Promise<Response>;
  createBackfill(context: Context): Promise<Response>;
}

/** What the handlers need of a network that is read. */
export interface AptosCalls extends BlockCalls {
  /** Height of the block that holds this ledger version. */
  heightOf(version: number): Promise<number>;
  /** What this stream would get of the block. */
  dryRun(
    blockNumber: number,
    record: AptosStreamRecord,
    addresses: readonly string[],
  ): Promise<AptosDryRunAnswer>;
}

export interface AptosBlockHandlerNeeds {
  store: Store;
  /** Undefined for a network that is not read. */
  aptosCallsOf(chain: string): AptosCalls | undefined;
}

export function createAptosBlockHandlers({
  store,
  aptosCallsOf,
}: AptosBlockHandlerNeeds): AptosBlockHandlers {
  const networkOf = (context: Context): { network: AptosNetwork; calls: AptosCalls } => {
    const given = context.req.param('network') ?? '';
    const network = toAptosNetwork(given);
    if (network === undefined) {
      const message = 'should be an Aptos network, e.g. mainnet';
      throw validationFailed('path', [{ path: ['network'], message }], { network: given });
    }
    const calls = aptosCallsOf(toAptosChain(network));
    if (calls !== undefined) return { network, calls };
    throw new HttpError(
      400,
      `No source for ${network}: start the service with --aptos ${network}=<fullnodeUrl>`,
    );
  };

  const heightOf = async (
    calls: AptosCalls,
    { block, version }: AptosBlockChoice,
  ): Promise<number> => block ?? calls.heightOf(version!);

  return {
    async dryRun(context) {
      const { network, calls } = networkOf(context);
      const body = readJson(context);
      const wanted = check(aptosDryRunSchema, 'requestBody', body);
      const record = toRecord(network, withGiven(DEFAULT_APTOS_OPTIONS, wanted), wanted.tag ?? '');
      refuseContradictions(record.options, body);
      const height = await heightOf(calls, wanted);
      return context.json(await calls.dryRun(height, record, wanted.addresses ?? []));
    },

    async sendBlock(context) {
      const { calls } = networkOf(context);
      const id = readId(context, 'stream');
      const wanted = check(aptosBlockChoiceSchema, 'requestBody', readJson(context));
      const stream = ofFamily(await store.readStream(id), 'aptos');
      const height = await heightOf(calls, wanted);
      return context.json(await calls.sendBlock(height, stream.id, randomUUID()));
    },

    async createBackfill(context) {
      const { network, calls } = networkOf(context);
      const wanted = check(aptosBackfillSchema, 'requestBody', readJson(context));
      const { id } = ofFamily(await store.readStream(wanted.streamId), 'aptos');
      const [blockFrom, blockTo] = await Promise.all([
        heightOf(calls, { block: wanted.blockFrom, version: wanted.versionFrom }),
        heightOf(calls, { block: wanted.blockTo, version: wanted.versionTo }),
      ]);
      const job = await store.createJob({
        streamId: id,
        chain: toAptosChain(network),
        blockFrom,
        blockTo,
      });
      if (job === undefined) throw notFound('Stream');
      setAuditTarget(context, job.id);
      return context.json(job);
    },
  };
}

/** A stream for as long as a dry run takes. */
const toRecord = (
  network: AptosNetwork,
  options: AptosStreamRecord['options'],
  tag: string,
): AptosStreamRecord => ({
  family: 'aptos',
  id: '',
  tag,
  description: '',
  webhookUrl: '',
  chainIds: [toAptosChain(network)],
  headers: {},
  limits: DEFAULT_LIMITS,
  options,
  status: 'active',
  statusMessage: '',
  errorSince: null,
  addressCount: 0,
  createdAt: 0,
  updatedAt: 0,
});
