/** The Aptos stream calls of the compatible API. */
import {
  type AptosStream,
  type AptosStreamStatus,
  createAptosStreamSchema,
  findAptosNetwork,
  toAptosChain,
  updateAptosStreamSchema,
} from '@sluice/kit/contract';
import {
  type AptosStreamOptions,
  type AptosStreamRecord,
  DEFAULT_APTOS_OPTIONS,
  DEFAULT_LIMITS,
} from '../../store/store.ts';
import { check, validationFailed } from '../answers.ts';
import {
  type StreamCallNeeds,
  type StreamCalls,
  commonPatch,
  createStreamCalls,
  toLife,
  withGiven,
} from './streamCalls.ts';
import { problemOf } from './streamProblems.ts';

export function createAptosStreamHandlers(needs: StreamCallNeeds): StreamCalls {
  const toAnswer = (record: AptosStreamRecord): AptosStream => {
    return {
      webhookUrl: record.webhookUrl,
      description: record.description,
      tag: record.tag,
      network: record.chainIds.flatMap((chain) => findAptosNetwork(chain) ?? []),
      ...record.options,
      headers: record.headers,
      ...record.limits,
      ...toLife(record, problemOf(record, needs)),
    };
  };

  return createStreamCalls(needs, {
    name: 'aptos',
    toDraft(body) {
      const wanted = check(createAptosStreamSchema, 'requestBody', body);
      const options = withGiven(DEFAULT_APTOS_OPTIONS, wanted);
      refuseContradictions(options, body);
      return {
        family: 'aptos',
        tag: wanted.tag,
        description: wanted.description,
        webhookUrl: wanted.webhookUrl,
        chainIds: wanted.network.map(toAptosChain),
        headers: wanted.headers ?? {},
        limits: withGiven(DEFAULT_LIMITS, wanted),
        options,
      };
    },
    toPatch(body, before) {
      const wanted = check(updateAptosStreamSchema, 'requestBody', body);
      const options = withGiven(before.options, wanted);
      refuseContradictions(options, body);
      return {
        ...commonPatch(wanted, before),
        ...(wanted.network && { chainIds: wanted.network.map(toAptosChain) }),
        options,
      };
    },
    toAnswer,
    toDeleted: () => true,
    toStatus(record): AptosStreamStatus {
      const { status, statusMessage } = toAnswer(record);
      return { status, statusMessage };
    },
  });
}

export function refuseContradictions(options: AptosStreamOptions, body: unknown): void {
  const watched = [...(options.functions ?? []), ...(options.events ?? [])];
  if (!options.allAddresses || watched.length > 0) return;
  throw validationFailed(
    'requestBody',
    [
      {
        path: ['allAddresses'],
        message: 'should come with functions or events: name what to take from every address',
      },
    ],
    body,
  );
}
