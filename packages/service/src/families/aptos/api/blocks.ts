/**
 * Calls about existing Aptos blocks: dry runs, sending one block, and backfills. The hosted API has
 * these calls only for EVM chains.
 */
import { randomUUID } from 'node:crypto';
import { type AptosBlockIdentifier, type AptosNetwork, toAptosChain } from '@sluice/kit/contract';
import {
  type AptosStreamRecord,
  DEFAULT_APTOS_OPTIONS,
  DEFAULT_DELIVERY,
} from '../../../store/streams/contract.ts';
import type { Store } from '../../../store/store.ts';
import { notFound, setAuditTarget } from '../../../api/httpErrors.ts';
import type { Handlers } from '../../../api/handlers.ts';
import { refuseContradictions } from './streams.ts';
import type { AptosCalls } from '../chains/calls.ts';
import { chainNotRead } from '../../../api/calls/chains/findChain.ts';
import { findStream, requireFamily } from '../../../api/calls/streams/findStream.ts';
import { withGiven } from '../../../api/calls/streams/streamCalls.ts';

export interface AptosBlockNeeds {
  store: Store;
  /**
   * Returns the functions that query the nodes of a network; undefined if the network is not read.
   */
  callsOf(chain: string): AptosCalls | undefined;
}

export function createAptosBlockHandlers({ store, callsOf }: AptosBlockNeeds) {
  const requireCalls = (network: AptosNetwork): AptosCalls => {
    const chain = toAptosChain(network);
    const calls = callsOf(chain);
    if (calls === undefined) throw chainNotRead(chain);
    return calls;
  };

  const heightOf = async (
    calls: AptosCalls,
    { block, version }: AptosBlockIdentifier,
  ): Promise<number> => block ?? calls.heightOf(version!);

  return {
    async dryRunAptos({ params: { network }, body: wanted, sent }) {
      const calls = requireCalls(network);
      const { streamId, addresses } = wanted;
      const stream =
        streamId === undefined ? newStream(network) : await findStream(store, streamId, 'aptos');
      const { tag = stream.tag } = wanted;
      const record = { ...stream, tag, options: withGiven(stream.options, wanted) };
      refuseContradictions(record.options, sent.body);
      const height = await heightOf(calls, wanted);
      return calls.dryRun(height, record, addresses ?? (streamId === undefined ? [] : undefined));
    },

    async sendAptosBlock({ params: { network, id }, body: wanted }) {
      const calls = requireCalls(network);
      const stream = requireFamily(await store.readStream(id), 'aptos');
      const height = await heightOf(calls, wanted);
      return calls.sendBlock(height, stream.id, randomUUID());
    },

    async createAptosBackfill({ context, params: { network }, body: wanted }) {
      const calls = requireCalls(network);
      const { id } = requireFamily(await store.readStream(wanted.streamId), 'aptos');
      const [blockFrom, blockTo] = await Promise.all([
        heightOf(calls, { block: wanted.blockFrom, version: wanted.versionFrom }),
        heightOf(calls, { block: wanted.blockTo, version: wanted.versionTo }),
      ]);
      const job = await store.createJob({
        streamId: id,
        destination: wanted.destination,
        chain: toAptosChain(network),
        blockFrom,
        blockTo,
      });
      if (job === undefined) {
        throw notFound(wanted.destination === undefined ? 'Stream' : 'Destination');
      }
      setAuditTarget(context, job.id);
      return job;
    },
  } satisfies Partial<Handlers>;
}

/** Returns a stream with default options for a dry run. */
const newStream = (network: AptosNetwork): AptosStreamRecord => ({
  family: 'aptos',
  id: '',
  tag: '',
  description: '',
  webhookUrl: '',
  chainIds: [toAptosChain(network)],
  ...DEFAULT_DELIVERY,
  options: DEFAULT_APTOS_OPTIONS,
  status: 'active',
  statusMessage: '',
  errorSince: null,
  addressCount: 0,
  childCount: 0,
  createdAt: 0,
  updatedAt: 0,
});
