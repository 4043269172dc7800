/** Calls about backfills, the coverage of a stream, and resuming a chain. */
import { toChainId } from '@sluice/kit/contract';
import type { ChainCalls } from '../../../chains/calls.ts';
import type { Store } from '../../../store/store.ts';
import { HttpError, notFound, validationFailed } from '../../httpErrors.ts';
import type { Handlers } from '../../handlers.ts';
import { chainNotRead } from './findChain.ts';

export interface BlockHandlerNeeds {
  store: Store;
  /** Returns the calls of a chain; undefined if the chain is not read. */
  callsOf(chain: string): ChainCalls | undefined;
}

const JOBS_PER_LIST = 100;

export function createBlockHandlers({ store, callsOf }: BlockHandlerNeeds) {
  return {
    listJobs: async ({ query: { streamId } }) => ({
      result: await store.listJobs({ streamId, limit: JOBS_PER_LIST }),
    }),

    async createBackfills({ params: { id }, body: { blockFrom, destination } }) {
      const past = await store.createPastJobs({ streamId: id, destination, blockFrom });
      if (past === undefined) throw notFound(destination === undefined ? 'Stream' : 'Destination');
      if (past.unread.length > 0) {
        throw new HttpError(
          409,
          `The service has not read a block of ${past.unread.join(', ')} yet. Try again once it has.`,
        );
      }
      return { result: past.jobs };
    },

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
              'a backfill that is done or canceled cannot change, and only a running one can be paused',
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
      const chainId = callsOf(id) === undefined ? requireChainId(id) : id;
      const calls = callsOf(chainId);
      if (calls === undefined) throw chainNotRead(chainId);
      return { chainId, from: await calls.resume(from, context.get('requestId') as string) };
    },
  } satisfies Partial<Handlers>;
}

function requireChainId(given: string): string {
  const chain = toChainId(given);
  if (chain !== undefined) return chain;
  const message = 'should be a chain ID in hex, e.g. 0x1';
  throw validationFailed('path', [{ path: ['id'], message }], { id: given });
}
