import * as z from 'zod';
import { text, uuid, count, unixMs, texts, pageOf, idOf, tagged } from './basics.ts';
import { component, named, shape } from '../named.ts';
import {
  aptosAddressesSchema,
  aptosLabeledAddressesSchema,
  evmAddressesSchema,
  evmLabeledAddressesSchema,
  listAddressesQuerySchema,
} from '../requests/addresses.ts';
import { listQuerySchema } from '../requests/account.ts';

const streamAddress = named(
  'StreamAddress',
  'A row of the address list of a stream.',
  z.strictObject({
    address: text,
    label: text
      .exactOptional()
      .describe('Label set by the user; absent if there is none. Sluice only.'),
  }),
);

const watchedAddress = shape(
  'WatchedAddress',
  'An address of a stream, with when and by whom it was added.',
  z.strictObject({
    address: text,
    label: text.exactOptional(),
    addedAt: unixMs.describe(
      'When it was added, in Unix milliseconds; a new label does not change this.',
    ),
    addedBy: text.describe(
      'Name of the API key that added it; `bootstrap` for the key of `--api-key`.',
    ),
  }),
);

const addressesResponse = named(
  'AddressesResponse',
  'The response to a change of addresses.',
  z.strictObject({
    streamId: uuid,
    address: z
      .union([text, texts])
      .describe('As sent: a string for a string, an array for an array'),
    effectiveFrom: z
      .record(text, count)
      .exactOptional()
      .describe('First block that the change applies to, by chain. Sluice only.'),
  }),
);

const streamAddressPage = component('StreamAddressPage', pageOf(streamAddress));

const addressPage = named(
  'AddressPage',
  'A page of addresses, in ascending order.',
  z.strictObject({
    result: z.array(watchedAddress),
    cursor: text.exactOptional().describe('Cursor of the next page; absent on the last.'),
  }),
);

/** A million EVM addresses take 45 MB of JSON; a million Aptos addresses may exceed the limit. */
const ADDRESS_CALL = { maxBodyBytes: 64 * 1024 * 1024, readsItself: true } as const;

const removedAddressesQuery = z.object({
  address: z.array(z.string()).optional().describe('Used without a body'),
});

export const evmAddressesCalls = tagged('EVM streams', {
  listEvmAddresses: {
    method: 'GET',
    path: '/streams/evm/{id}/address',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: 'List the addresses of a stream, in ascending order',
    query: listQuerySchema,
    response: streamAddressPage,
    errors: [404, 422],
  },
  addEvmAddresses: {
    ...ADDRESS_CALL,
    method: 'POST',
    path: '/streams/evm/{id}/address',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Add addresses: one, or up to a million',
    body: evmLabeledAddressesSchema,
    response: addressesResponse,
    errors: [400, 404, 422, 503],
  },
  removeEvmAddresses: {
    ...ADDRESS_CALL,
    method: 'DELETE',
    path: '/streams/evm/{id}/address',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Remove addresses',
    description:
      'All or nothing: if an address is not watched, the call fails with a 404 and removes none.',
    query: removedAddressesQuery,
    body: evmAddressesSchema,
    response: addressesResponse,
    errors: [400, 404, 422, 503],
  },
  replaceEvmAddresses: {
    ...ADDRESS_CALL,
    method: 'PATCH',
    path: '/streams/evm/{id}/address',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Replace all addresses',
    body: evmLabeledAddressesSchema,
    response: addressesResponse,
    errors: [400, 404, 422, 503],
  },
});

export const aptosAddressesCalls = tagged('Aptos streams', {
  listAptosAddresses: {
    method: 'GET',
    path: '/streams/aptos/{id}/address',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: 'List the addresses of a stream, in ascending order',
    query: listQuerySchema,
    response: streamAddressPage,
    errors: [404, 422],
  },
  addAptosAddresses: {
    ...ADDRESS_CALL,
    method: 'POST',
    path: '/streams/aptos/{id}/address',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Add addresses; leading zeros are optional',
    body: aptosLabeledAddressesSchema,
    response: addressesResponse,
    errors: [400, 404, 422, 503],
  },
  removeAptosAddresses: {
    ...ADDRESS_CALL,
    method: 'DELETE',
    path: '/streams/aptos/{id}/address',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Remove addresses',
    description:
      'All or nothing: if an address is not watched, the call fails with a 404 and removes none.',
    query: removedAddressesQuery,
    body: aptosAddressesSchema,
    response: addressesResponse,
    errors: [400, 404, 422, 503],
  },
});

export const addressesCalls = tagged('Sluice', {
  listAddresses: {
    method: 'GET',
    path: '/sluice/streams/{id}/addresses',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: 'List addresses of an EVM or Aptos stream, with when and by whom they were added',
    description:
      '`find` takes a prefix, both ends (`0x28C6…1d60`), or part of an address or label.',
    query: listAddressesQuerySchema,
    response: addressPage,
    errors: [404, 422],
  },
});
