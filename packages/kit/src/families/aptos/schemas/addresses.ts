/** The address calls for Aptos. */
import { idOf, tagged } from '../../../contract/calls/basics.ts';
import {
  ADDRESS_CALL,
  addressesResponse,
  removedAddressesQuery,
  streamAddressPage,
} from '../../../contract/calls/addresses.ts';
import { component } from '../../../contract/named.ts';
import { listQuerySchema } from '../../../contract/requests/account.ts';
import { addresses, labeledAddresses } from '../../../contract/requests/addresses.ts';
import { aptosAddress } from './values.ts';

export const aptosAddressesSchema = component('AptosAddresses', addresses(aptosAddress));

export const aptosLabeledAddressesSchema = component(
  'LabeledAptosAddresses',
  labeledAddresses(aptosAddress),
);

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
