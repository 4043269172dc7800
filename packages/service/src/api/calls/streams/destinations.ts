/** Calls for the additional destinations of streams. */
import { MAX_DESTINATIONS, type StreamDestination } from '@sluice/kit/contract';
import { DEFAULT_LIMITS, type DestinationDraft } from '../../../store/streams/contract.ts';
import type { DestinationRecord, StreamRecord } from '../../../store/streams/contract.ts';
import { toLaneId } from '../../../store/rows/laneIds.ts';
import { callerOf } from '../../auth/auth.ts';
import type { ApiFamilies } from '../../family.ts';
import type { Handlers } from '../../handlers.ts';
import { HttpError, notFound, setAuditTarget } from '../../httpErrors.ts';
import {
  type StreamCallNeeds,
  type StreamEndpoint,
  MAX_UPDATE_TRIES,
  refuseLateRetries,
  refuseLongTimeout,
  refuseTwoAuthorizations,
  showOAuth2,
  tryWebhook,
  withGiven,
} from './streamCalls.ts';

export interface DestinationHandlerNeeds extends StreamCallNeeds {
  families: ApiFamilies;
}

export function createDestinationHandlers(needs: DestinationHandlerNeeds) {
  const { store, endpoints, streamSecrets, families } = needs;

  const findStream = async (id: string): Promise<StreamRecord> => {
    const stream = await store.readStream(id);
    if (stream === undefined) throw notFound('Stream');
    return stream;
  };

  const find = async (streamId: string, destination: number): Promise<DestinationRecord> => {
    const known = await store.listDestinations(streamId);
    const found = known.find((each) => each.destination === destination);
    if (found === undefined) throw notFound('Destination');
    return endpoints.open(streamId, found);
  };

  /** Throws unless the destination accepts the test webhook of its stream. */
  const tryDestination = async (
    { id, family }: StreamRecord,
    endpoint: Omit<StreamEndpoint, 'id'>,
    sent: unknown,
  ): Promise<void> => {
    refuseTwoAuthorizations({ id, ...endpoint }, sent);
    await tryWebhook(
      needs,
      families[family].testWebhook,
      { id, ...endpoint },
      await streamSecrets.list(id),
    );
  };

  const refuseLimits = (limits: DestinationDraft['limits'], sent: unknown): void => {
    refuseLateRetries(limits, needs.kept, sent);
    refuseLongTimeout(limits, needs, sent);
  };

  return {
    async listDestinations({ params: { id } }) {
      await findStream(id);
      const known = await store.listDestinations(id);
      return { result: known.map((each) => toResponse(endpoints.open(id, each))) };
    },

    async addDestination({ context, params: { id }, body, sent }) {
      const stream = await findStream(id);
      const limits = withGiven(DEFAULT_LIMITS, body);
      refuseLimits(limits, sent.body);
      const draft = {
        webhookUrl: body.webhookUrl,
        description: body.description ?? '',
        headers: body.headers ?? {},
        oauth2: body.oauth2 ?? null,
        limits,
      };
      await tryDestination(stream, draft, sent.body);
      const { keyId } = callerOf(context);
      const added = await store.addDestination(id, endpoints.seal(id, draft), { keyId });
      if (added.outcome !== 'added') {
        if (added.outcome === 'unknown-stream') throw notFound('Stream');
        throw new HttpError(
          409,
          `The stream already has ${MAX_DESTINATIONS} destinations, including its webhookUrl. Remove one first, or create another stream.`,
        );
      }
      setAuditTarget(context, toLaneId(id, added.destination.destination));
      return toResponse(endpoints.open(id, added.destination));
    },

    async updateDestination({ context, params: { id, destination }, body, sent }) {
      const { keyId } = callerOf(context);
      const lane = toLaneId(id, destination);
      setAuditTarget(context, lane);
      const { webhookUrl, description, headers, oauth2, ...given } = body;
      let tested: string | undefined;
      // Starts again if the destination changes meanwhile, because the limits that the request does
      // not set keep their values.
      for (let tries = 0; tries < MAX_UPDATE_TRIES; tries++) {
        const stream = await findStream(id);
        const before = await find(id, destination);
        const limits = withGiven(before.limits, given);
        if (JSON.stringify(limits) !== JSON.stringify(before.limits)) {
          refuseLimits(limits, sent.body);
        }
        const endpoint = {
          webhookUrl: webhookUrl ?? before.webhookUrl,
          headers: headers ?? before.headers,
          oauth2: oauth2 === undefined ? before.oauth2 : oauth2,
        };
        const isNew = webhookUrl !== undefined || headers !== undefined || oauth2 !== undefined;
        if (isNew && JSON.stringify(endpoint) !== tested) {
          await tryDestination(stream, endpoint, sent.body);
          tested = JSON.stringify(endpoint);
        }
        const patch = {
          ...(webhookUrl !== undefined && { webhookUrl }),
          ...(description !== undefined && { description }),
          ...(headers !== undefined && { headers }),
          ...(oauth2 !== undefined && { oauth2 }),
          limits,
        };
        const changed = await store.updateStream(lane, endpoints.seal(id, patch), {
          note: { kind: 'edited', fields: ['destinations'], keyId },
          unchangedSince: before.updatedAt,
        });
        if (changed === undefined) continue;
        if (changed.status === 'terminated' && stream.status !== 'paused') {
          await store.setStreamStatus(lane, 'active', 'Stream is active');
        }
        return toResponse(await find(id, destination));
      }
      throw new HttpError(
        409,
        'Other calls keep changing this destination. Send the update again.',
      );
    },

    async removeDestination({ context, params: { id, destination } }) {
      await findStream(id);
      setAuditTarget(context, toLaneId(id, destination));
      const { keyId } = callerOf(context);
      if (!(await store.removeDestination(id, destination, { keyId }))) {
        throw notFound('Destination');
      }
      return undefined;
    },
  } satisfies Partial<Handlers>;
}

const toResponse = ({
  streamId: _streamId,
  limits,
  oauth2,
  errorSince,
  ...shown
}: DestinationRecord): StreamDestination => ({
  ...shown,
  ...limits,
  oauth2: showOAuth2(oauth2),
  isErrorSince: errorSince === null ? null : new Date(errorSince).toISOString(),
});
