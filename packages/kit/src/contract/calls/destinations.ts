import * as z from 'zod';
import { component, named } from '../named.ts';
import { addDestinationSchema, updateDestinationSchema } from '../requests/destinations.ts';
import { toReturned } from '../streams/field.ts';
import { additionalFields, statusFields } from '../streams/sharedFields.ts';
import { MAX_DESTINATIONS } from '../values.ts';
import { count, idOf, param, tagged, unixMs } from './basics.ts';
import { TEST_WEBHOOK_NOTE } from './streams.ts';

const destinationNumber = param(
  (given) => (/^[1-9]\d{0,8}$/.test(given) ? Number(given) : undefined),
  'should be the number of an additional destination, from 1',
  { type: 'integer', minimum: 1 },
);

const streamDestination = named(
  'StreamDestination',
  'An additional destination of a stream. It gets the webhooks of the stream in deliveries of its own.',
  z.strictObject({
    destination: count.describe(
      'Number of the destination within its stream, from 1; not used again after its removal.',
    ),
    ...toReturned(additionalFields),
    ...toReturned(statusFields),
    createdAt: unixMs,
    updatedAt: unixMs,
  }),
);

const destinationList = component(
  'StreamDestinationList',
  z.strictObject({ result: z.array(streamDestination) }),
);

export const destinationsCalls = tagged('Sluice', {
  listDestinations: {
    method: 'GET',
    path: '/sluice/streams/{id}/destinations',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: 'List the additional destinations of a stream, oldest first, with their state',
    response: destinationList,
    errors: [404, 422],
  },
  addDestination: {
    method: 'POST',
    path: '/sluice/streams/{id}/destinations',
    scope: 'streams:write',
    audited: true,
    params: { id: idOf('stream') },
    summary: `Add a destination to a stream, which has at most ${MAX_DESTINATIONS}, including its webhookUrl`,
    description: `${TEST_WEBHOOK_NOTE} The destination gets the webhooks of later blocks.`,
    body: addDestinationSchema,
    response: streamDestination,
    errors: [400, 404, 409, 422],
  },
  updateDestination: {
    method: 'POST',
    path: '/sluice/streams/{id}/destinations/{destination}',
    scope: 'streams:write',
    audited: true,
    params: { id: idOf('stream'), destination: destinationNumber },
    summary: 'Change the given fields of an additional destination',
    description: `${TEST_WEBHOOK_NOTE} This applies when webhookUrl, headers or oauth2 are given. A terminated destination becomes active unless its stream is paused.`,
    body: updateDestinationSchema,
    response: streamDestination,
    errors: [400, 404, 409, 422],
  },
  removeDestination: {
    method: 'DELETE',
    path: '/sluice/streams/{id}/destinations/{destination}',
    scope: 'streams:write',
    audited: true,
    params: { id: idOf('stream'), destination: destinationNumber },
    summary: 'Remove an additional destination of a stream',
    description: 'Its waiting deliveries are canceled; the history stays.',
    errors: [404, 422],
  },
});
