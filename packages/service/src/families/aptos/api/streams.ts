/** The Aptos stream calls of the compatible API. */
import { type AptosStream, findAptosNetwork, toAptosChain } from '@sluice/kit/contract';
import {
  type AptosStreamOptions,
  type AptosStreamRecord,
  DEFAULT_APTOS_OPTIONS,
  DEFAULT_DELIVERY,
  DEFAULT_LIMITS,
} from '../../../store/streams/contract.ts';
import { validationFailed } from '../../../api/httpErrors.ts';
import type { Handlers, Received } from '../../../api/handlers.ts';
import {
  type AddressHandlerNeeds,
  createAddressCalls,
} from '../../../api/calls/streams/addresses.ts';
import {
  type StreamCallNeeds,
  commonPatch,
  createStreamCalls,
  showOAuth2,
  toStatusFields,
  withGiven,
} from '../../../api/calls/streams/streamCalls.ts';
import { APTOS_API } from './aptosApi.ts';
import { problemOf } from '../../../api/calls/streams/streamProblems.ts';

export function createAptosStreamHandlers(needs: StreamCallNeeds & AddressHandlerNeeds) {
  const addresses = createAddressCalls(needs, APTOS_API);
  const toResponse = (record: AptosStreamRecord): AptosStream => {
    return {
      webhookUrl: record.webhookUrl,
      description: record.description,
      tag: record.tag,
      network: record.chainIds.flatMap((chain) => findAptosNetwork(chain) ?? []),
      ...record.options,
      headers: record.headers,
      oauth2: showOAuth2(record.oauth2),
      ...record.limits,
      ...toStatusFields(record, problemOf(record, APTOS_API, needs)),
    };
  };

  const calls = createStreamCalls(needs, {
    ...APTOS_API,
    toDraft(wanted: Received<'createAptosStream'>['body'], sent) {
      const options = withGiven(DEFAULT_APTOS_OPTIONS, wanted);
      refuseContradictions(options, sent);
      return {
        family: 'aptos',
        tag: wanted.tag,
        description: wanted.description,
        webhookUrl: wanted.webhookUrl,
        chainIds: wanted.network.map(toAptosChain),
        ...withGiven(DEFAULT_DELIVERY, wanted),
        limits: withGiven(DEFAULT_LIMITS, wanted),
        options,
      };
    },
    toPatch(wanted: Received<'updateAptosStream'>['body'], sent, before) {
      const options = withGiven(before.options, wanted);
      refuseContradictions(options, sent);
      return {
        ...commonPatch(wanted, before),
        ...(wanted.network && { chainIds: wanted.network.map(toAptosChain) }),
        options,
      };
    },
    toResponse,
  });
  return {
    listAptosStreams: calls.list,
    createAptosStream: calls.create,
    getAptosStream: calls.get,
    updateAptosStream: calls.update,
    listAptosAddresses: addresses.list,
    addAptosAddresses: addresses.add,
    removeAptosAddresses: addresses.remove,
    async deleteAptosStream(asked) {
      await calls.delete(asked);
      return true as const;
    },
    async setAptosStreamStatus(asked) {
      const { status, statusMessage } = await calls.setStatus(asked);
      return { status, statusMessage };
    },
  } satisfies Partial<Handlers>;
}

export function refuseContradictions(options: AptosStreamOptions, body: unknown): void {
  const watched = [...(options.functions ?? []), ...(options.events ?? [])];
  if (!options.allAddresses || watched.length > 0) return;
  throw validationFailed(
    'requestBody',
    [
      {
        path: ['allAddresses'],
        message: 'requires functions or events: list what to match at every address',
      },
    ],
    body,
  );
}
