/** The stream calls for Aptos. */
import * as z from 'zod';
import { idOf, pageOf, tagged, text } from '../../../contract/calls/basics.ts';
import { TEST_WEBHOOK_NOTE } from '../../../contract/calls/streams.ts';
import { component, named, namedRequest, typed } from '../../../contract/named.ts';
import { streamStatus } from '../../../contract/requests/enums.ts';
import { listStreamsQuerySchema, streamStatusSchema } from '../../../contract/requests/streams.ts';
import type { CreateAptosStream, UpdateAptosStream } from '../../../contract/shapes.generated.ts';
import { toCreated, toReturned, toUpdated } from '../../../contract/streams/field.ts';
import { aptosFields } from './fields.ts';

export const createAptosStreamSchema: z.ZodType<CreateAptosStream> = namedRequest(
  'CreateAptosStream',
  'A new Aptos stream.',
  z.strictObject(toCreated(aptosFields)),
);

export const updateAptosStreamSchema: z.ZodType<UpdateAptosStream> = namedRequest(
  'UpdateAptosStream',
  'Any fields of an Aptos stream; null and empty lists as for an EVM stream.',
  typed('Optional<CreateAptosStream>', z.strictObject(toUpdated(aptosFields))),
);

const aptosStream = named(
  'AptosStream',
  'An Aptos stream as the service returns it.',
  z.strictObject(toReturned(aptosFields)),
);

const aptosStreamStatus = named(
  'AptosStreamStatus',
  'The response to setting the status of an Aptos stream; the EVM call returns the complete stream.',
  z.strictObject({
    status: streamStatus,
    statusMessage: text,
  }),
);

const aptosStreamPage = component('AptosStreamPage', pageOf(aptosStream));

export const aptosStreamsCalls = tagged('Aptos streams', {
  listAptosStreams: {
    method: 'GET',
    path: '/streams/aptos',
    scope: 'streams:read',
    summary: 'List streams, newest first',
    query: listStreamsQuerySchema,
    response: aptosStreamPage,
    errors: [422],
  },
  createAptosStream: {
    method: 'PUT',
    path: '/streams/aptos',
    scope: 'streams:write',
    summary: 'Create a stream',
    description: TEST_WEBHOOK_NOTE,
    body: createAptosStreamSchema,
    response: aptosStream,
    errors: [400, 422],
  },
  getAptosStream: {
    method: 'GET',
    path: '/streams/aptos/{id}',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: 'Read a stream',
    response: aptosStream,
    errors: [404, 422],
  },
  updateAptosStream: {
    method: 'POST',
    path: '/streams/aptos/{id}',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Change the given fields of a stream',
    description: `${TEST_WEBHOOK_NOTE} This applies when webhookUrl, headers or oauth2 are given.`,
    body: updateAptosStreamSchema,
    response: aptosStream,
    errors: [400, 404, 409, 422],
  },
  deleteAptosStream: {
    method: 'DELETE',
    path: '/streams/aptos/{id}',
    scope: 'streams:write',
    audited: true,
    params: { id: idOf('stream') },
    summary: 'Delete a stream',
    response: z.literal(true),
    errors: [404, 422],
  },
  setAptosStreamStatus: {
    method: 'POST',
    path: '/streams/aptos/{id}/status',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Pause or activate a stream',
    description: `${TEST_WEBHOOK_NOTE} This applies when the stream becomes active.`,
    body: streamStatusSchema,
    response: aptosStreamStatus,
    errors: [400, 404, 422],
  },
});
