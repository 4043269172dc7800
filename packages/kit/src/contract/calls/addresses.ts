import * as z from 'zod';
import { text, uuid, count, unixMs, texts, pageOf, idOf, tagged } from './basics.ts';
import { component, named, shape } from '../named.ts';
import {
  aptosAddressesSchema,
  aptosLabelledAddressesSchema,
  evmAddressesSchema,
  evmLabelledAddressesSchema,
  listAddressesQuerySchema,
  listQuerySchema,
} from '../index.ts';

const streamAddress = named(
  'StreamAddress',
  'A row of the list of addresses that a stream watches.',
  z.strictObject({
    address: text,
    label: text
      .exactOptional()
      .describe(
        'What the user calls it; absent when it has none. Ours; the hosted service has no such key.',
      ),
  }),
);

const watchedAddress = shape(
  'WatchedAddress',
  'An address that a stream watches, and since when.',
  z.strictObject({
    address: text,
    label: text.exactOptional(),
    addedAt: unixMs.describe(
      'When the stream began to have it, Unix milliseconds; a new label changes nothing of that.',
    ),
    addedBy: text.describe(
      'Name of the API key it was added with; `bootstrap` is the one that the service was started with.',
    ),
  }),
);

const addressesAnswer = named(
  'AddressesAnswer',
  `The answer repeats the request's form: a string for a string, an array for an array.`,
  z.strictObject({
    streamId: uuid,
    address: z.union([text, texts]).describe('As it was sent: one for one, a list for a list'),
    effectiveFrom: z
      .record(text, count)
      .exactOptional()
      .describe(
        'Per chain, the first block the change applies to. Ours; the hosted service has no such key.',
      ),
  }),
);

const streamAddressPage = component('StreamAddressPage', pageOf(streamAddress));

const addressPage = named(
  'AddressPage',
  'Addresses in their order.',
  z.strictObject({
    result: z.array(watchedAddress),
    cursor: text.exactOptional().describe('For the next page; absent on the last.'),
  }),
);

/** A million addresses are 45 MB of JSON. */
const ADDRESS_CALL = { maxBodyBytes: 64 * 1024 * 1024, readsItself: true } as const;

const removedAddressesQuery = z.object({
  address: z.array(z.string()).optional().describe('Without a body'),
});

export const evmAddressesCalls = tagged('EVM streams', {
  listEvmAddresses: {
    method: 'GET',
    path: '/streams/evm/{id}/address',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: 'List the addresses of a stream, in their own order',
    query: listQuerySchema,
    answer: streamAddressPage,
    errors: [404, 422],
  },
  addEvmAddresses: {
    ...ADDRESS_CALL,
    method: 'POST',
    path: '/streams/evm/{id}/address',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Watch more addresses: one, or up to a million',
    body: evmLabelledAddressesSchema,
    answer: addressesAnswer,
    errors: [400, 404, 422, 503],
  },
  removeEvmAddresses: {
    ...ADDRESS_CALL,
    method: 'DELETE',
    path: '/streams/evm/{id}/address',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Watch these addresses no more',
    description: 'All or nothing: one that is not watched is a 404, and nothing is removed.',
    query: removedAddressesQuery,
    body: evmAddressesSchema,
    answer: addressesAnswer,
    errors: [400, 404, 422, 503],
  },
  replaceEvmAddresses: {
    ...ADDRESS_CALL,
    method: 'PATCH',
    path: '/streams/evm/{id}/address',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Watch these addresses and no others',
    body: evmLabelledAddressesSchema,
    answer: addressesAnswer,
    errors: [400, 404, 422, 503],
  },
});

export const aptosAddressesCalls = tagged('Aptos streams', {
  listAptosAddresses: {
    method: 'GET',
    path: '/streams/aptos/{id}/address',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: 'List the addresses of a stream, in their own order',
    query: listQuerySchema,
    answer: streamAddressPage,
    errors: [404, 422],
  },
  addAptosAddresses: {
    ...ADDRESS_CALL,
    method: 'POST',
    path: '/streams/aptos/{id}/address',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Watch more addresses; leading zeros may be left out',
    body: aptosLabelledAddressesSchema,
    answer: addressesAnswer,
    errors: [400, 404, 422, 503],
  },
  removeAptosAddresses: {
    ...ADDRESS_CALL,
    method: 'DELETE',
    path: '/streams/aptos/{id}/address',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Watch these addresses no more',
    description: 'All or nothing: one that is not watched is a 404, and nothing is removed.',
    query: removedAddressesQuery,
    body: aptosAddressesSchema,
    answer: addressesAnswer,
    errors: [400, 404, 422, 503],
  },
});

export const addressesCalls = tagged('Sluice', {
  listAddresses: {
    method: 'GET',
    path: '/sluice/streams/{id}/addresses',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: 'Addresses of a stream of either family, with when and by whom they were added',
    description:
      '`find` takes how they begin, their ends (`0x28C6…1d60`), or a part of them or of their labels.',
    query: listAddressesQuerySchema,
    answer: addressPage,
    errors: [404, 422],
  },
});
