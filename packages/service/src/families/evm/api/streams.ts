/** The EVM stream calls of the compatible API. */
import { randomUUID } from 'node:crypto';
import type { EvmDryRun, EvmStream } from '@sluice/kit/contract';
import {
  DEFAULT_DELIVERY,
  DEFAULT_LIMITS,
  DEFAULT_OPTIONS,
  type EvmStreamRecord,
  type StreamOptions,
  deliveryOf,
} from '../../../store/streams/contract.ts';
import { notFound, validationFailed } from '../../../api/httpErrors.ts';
import type { Handlers, Received } from '../../../api/handlers.ts';
import { callerOf } from '../../../api/auth/auth.ts';
import {
  type AddressHandlerNeeds,
  createAddressCalls,
} from '../../../api/calls/streams/addresses.ts';
import { findStream, requireFamily } from '../../../api/calls/streams/findStream.ts';
import { takesCalls, takesEveryCall } from '../match/callSelection.ts';
import { takesChildren } from '../match/factories.ts';
import { compileRules } from '../match/rules.ts';
import { takesEvents } from '../match/selection.ts';
import { EVM_API } from './evmApi.ts';
import { problemOf } from '../../../api/calls/streams/streamProblems.ts';
import {
  type StreamCallNeeds,
  commonPatch,
  createStreamCalls,
  showOAuth2,
  toStatusFields,
  tryWebhook,
  withGiven,
} from '../../../api/calls/streams/streamCalls.ts';

export interface EvmStreamNeeds extends StreamCallNeeds, AddressHandlerNeeds {
  /**
   * Returns the problems of a stream's events, filters, triggers and balances, by path; empty if
   * all are valid. The body contains the ABI as it was sent.
   */
  checkOptions(
    options: StreamOptions,
    body: unknown,
  ): { path: (string | number)[]; message: string }[];
}

export function createEvmStreamHandlers(needs: EvmStreamNeeds) {
  const { store, endpoints, addressChanges } = needs;
  const addresses = createAddressCalls(needs, EVM_API);

  const toResponse = (record: EvmStreamRecord): EvmStream => ({
    webhookUrl: record.webhookUrl,
    description: record.description,
    tag: record.tag,
    chainIds: record.chainIds,
    ...record.options,
    ...deliveryOf(record),
    oauth2: showOAuth2(record.oauth2),
    ...record.limits,
    ...toStatusFields(record, problemOf(record, EVM_API, needs)),
    createdAt: new Date(record.createdAt).toISOString(),
    updatedAt: new Date(record.updatedAt).toISOString(),
  });

  const calls = createStreamCalls(needs, {
    ...EVM_API,
    toDraft(wanted: Received<'createEvmStream'>['body'], sent) {
      const options = withOptions(DEFAULT_OPTIONS, wanted);
      refuseContradictions(options, sent, needs.checkOptions(options, sent));
      return {
        family: 'evm',
        tag: wanted.tag ?? '',
        description: wanted.description,
        webhookUrl: wanted.webhookUrl,
        chainIds: wanted.chainIds,
        options,
        ...withGiven(DEFAULT_DELIVERY, wanted),
        limits: withGiven(DEFAULT_LIMITS, wanted),
      };
    },
    toPatch(wanted: Received<'updateEvmStream'>['body'], sent, before) {
      const options = withOptions(before.options, wanted);
      refuseContradictions(options, sent, needs.checkOptions(options, sent));
      return {
        ...commonPatch(wanted, before),
        ...(wanted.chainIds !== undefined && { chainIds: wanted.chainIds }),
        options,
      };
    },
    factoriesOf: (options) => compileRules(options as StreamOptions).factories,
    toResponse,
  });

  return {
    listEvmStreams: calls.list,
    createEvmStream: calls.create,
    getEvmStream: calls.get,
    updateEvmStream: calls.update,
    deleteEvmStream: calls.delete,
    setEvmStreamStatus: calls.setStatus,
    listEvmAddresses: addresses.list,
    addEvmAddresses: addresses.add,
    removeEvmAddresses: addresses.remove,
    replaceEvmAddresses: addresses.replace,
    /**
     * Tests the copy's URL and activates the copy, as for a new stream, unless the original is
     * paused. The copy stays paused until it has all its addresses, so that it never matches with
     * only some of them.
     */
    async duplicateEvmStream({ context, params }) {
      const found = await findStream(store, params.id, 'evm');
      const original = endpoints.open(found.id, found);
      const { id: from, tag, description, webhookUrl, chainIds, options, limits } = original;
      const isPaused = original.status === 'paused';
      const id = randomUUID();
      const { secret, sealedSecret } = needs.streamSecrets.create(id);
      if (!isPaused) {
        const { headers, oauth2 } = original;
        const endpoint = { id, webhookUrl, headers, oauth2 };
        await tryWebhook(needs, EVM_API.testWebhook, endpoint, [secret]);
      }
      const draft = {
        family: 'evm' as const,
        tag,
        description,
        webhookUrl,
        chainIds,
        options,
        ...deliveryOf(original),
        limits,
      };
      const pausedBecause = `Copying addresses from ${from}`;
      const sealed = endpoints.seal(id, draft);
      await store.createStream(sealed, { id, sealedSecret, pausedBecause });
      const copied = await addressChanges.copy(from, id, callerOf(context).keyId);
      if (copied.outcome !== 'changed') throw notFound('Stream');
      const record = isPaused
        ? await store.setStreamStatus(id, 'paused', 'Stream is a duplicate of a paused one')
        : await store.setStreamStatus(id, 'active', 'Stream is active');
      return toResponse(endpoints.open(id, requireFamily(record, 'evm')));
    },
  } satisfies Partial<Handlers>;
}

/** Returns the options with the given fields, in which the schema has turned ABI items into text. */
export const withOptions = (base: StreamOptions, given: Omit<EvmDryRun, 'block'>): StreamOptions =>
  withGiven(base, given as Partial<StreamOptions>);

/** Throws a 422 for options that are invalid or contradict each other. */
export function refuseContradictions(
  options: StreamOptions,
  body: unknown,
  optionProblems: readonly { path: (string | number)[]; message: string }[],
): void {
  const problems = [...optionProblems];
  const selects = { events: takesEvents(options), functions: takesCalls(options) };
  if (options.allAddresses && !selects.events && !selects.functions) {
    problems.push({
      path: ['allAddresses'],
      message:
        'requires topic0, functions or advancedOptions: list the events or functions to match at every address',
    });
  } else if (options.allAddresses && options.includeContractLogs && !selects.events) {
    problems.push({
      path: ['includeContractLogs'],
      message: 'requires topic0 with allAddresses: list the events to match at every address',
    });
  }
  if (options.allAddresses && takesEveryCall(options)) {
    problems.push({
      path: ['allAddresses'],
      message: 'should not be combined with *: list the functions to match at every address',
    });
  }
  if (options.allAddresses && takesChildren(options)) {
    problems.push({
      path: ['factories'],
      message: 'should not be combined with allAddresses, which matches children, too',
    });
  }
  const takesRecords = options.includeNativeTxs || options.includeContractLogs || selects.functions;
  if (options.includeAllTxLogs && !takesRecords) {
    problems.push({
      path: ['includeAllTxLogs'],
      message: 'requires includeNativeTxs, includeContractLogs or functions',
    });
  }
  if (problems.length > 0) throw validationFailed('requestBody', problems, body);
}
