/** The stream calls for EVM chains. */
import * as z from 'zod';
import { idOf, pageOf, tagged } from '../../../contract/calls/basics.ts';
import { TEST_WEBHOOK_NOTE } from '../../../contract/calls/streams.ts';
import { component, named, namedRequest, shape, typed } from '../../../contract/named.ts';
import { listStreamsQuerySchema, streamStatusSchema } from '../../../contract/requests/streams.ts';
import type { CreateEvmStream, UpdateEvmStream } from '../../../contract/shapes.generated.ts';
import { toCreated, toReturned, toUpdated } from '../../../contract/streams/field.ts';
import { evmFields } from './fields.ts';

export const createEvmStreamSchema: z.ZodType<CreateEvmStream> = namedRequest(
  'CreateEvmStream',
  'A new EVM stream.',
  z.strictObject(toCreated(evmFields)),
);

export const updateEvmStreamSchema: z.ZodType<UpdateEvmStream> = namedRequest(
  'UpdateEvmStream',
  'Any fields of a stream. Absent and null fields stay unchanged, except that null removes `oauth2`, `confirmations` and the limits `maxInFlight`, `maxPerSecond`, `maxWebhookBytes` and `timeoutSeconds`. An empty list clears a list.',
  typed('Optional<CreateEvmStream>', z.strictObject(toUpdated(evmFields))),
);

const evmStream = named(
  'EvmStream',
  'An EVM stream as the service returns it.',
  z.strictObject(toReturned(evmFields)),
);

shape(
  'StreamLimits',
  'Delivery limits of a stream. Sluice only; the hosted service rejects the keys.',
  evmStream.pick({
    maxInFlight: true,
    maxPerSecond: true,
    strictOrder: true,
    timeoutSeconds: true,
    retries: true,
  }),
);

const evmStreamPage = component('EvmStreamPage', pageOf(evmStream));

export const evmStreamsCalls = tagged('EVM streams', {
  listEvmStreams: {
    method: 'GET',
    path: '/streams/evm',
    scope: 'streams:read',
    summary: 'List streams, newest first',
    query: listStreamsQuerySchema,
    response: evmStreamPage,
    errors: [422],
  },
  createEvmStream: {
    method: 'PUT',
    path: '/streams/evm',
    scope: 'streams:write',
    summary: 'Create a stream',
    description: TEST_WEBHOOK_NOTE,
    body: createEvmStreamSchema,
    response: evmStream,
    errors: [400, 422],
  },
  getEvmStream: {
    method: 'GET',
    path: '/streams/evm/{id}',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: 'Read a stream',
    response: evmStream,
    errors: [404, 422],
  },
  updateEvmStream: {
    method: 'POST',
    path: '/streams/evm/{id}',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Change the given fields of a stream',
    description: `${TEST_WEBHOOK_NOTE} This applies when webhookUrl, headers or oauth2 are given.`,
    body: updateEvmStreamSchema,
    response: evmStream,
    errors: [400, 404, 409, 422],
  },
  deleteEvmStream: {
    method: 'DELETE',
    path: '/streams/evm/{id}',
    scope: 'streams:write',
    audited: true,
    params: { id: idOf('stream') },
    summary: 'Delete a stream and return it',
    description: 'Pending deliveries are canceled; the history stays.',
    response: evmStream,
    errors: [404, 422],
  },
  setEvmStreamStatus: {
    method: 'POST',
    path: '/streams/evm/{id}/status',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Pause or activate a stream',
    description: `${TEST_WEBHOOK_NOTE} This applies when the stream becomes active.`,
    body: streamStatusSchema,
    response: evmStream,
    errors: [400, 404, 422],
  },
  duplicateEvmStream: {
    method: 'POST',
    path: '/streams/evm/{id}/duplicate',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Duplicate a stream, with its addresses',
    description: `${TEST_WEBHOOK_NOTE} This does not apply to a paused stream, whose duplicate is paused.`,
    response: evmStream,
    errors: [400, 404, 422],
  },
});
