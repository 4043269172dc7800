import * as z from 'zod';
import { text, uuid, count, unixMs, texts, pageOf, idOf, tagged } from './basics.ts';
import { component, named, shape } from '../named.ts';
import { listAddressesQuerySchema } from '../requests/addresses.ts';

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

export const addressesResponse = named(
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

export const streamAddressPage = component('StreamAddressPage', pageOf(streamAddress));

const addressPage = named(
  'AddressPage',
  'A page of addresses, in ascending order.',
  z.strictObject({
    result: z.array(watchedAddress),
    cursor: text.exactOptional().describe('Cursor of the next page; absent on the last.'),
  }),
);

/** A million addresses of 20 bytes take 45 MB of JSON; a million longer ones may exceed the limit. */
export const ADDRESS_CALL = { maxBodyBytes: 64 * 1024 * 1024, readsItself: true } as const;

export const removedAddressesQuery = z.object({
  address: z.array(z.string()).optional().describe('Used without a body'),
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
