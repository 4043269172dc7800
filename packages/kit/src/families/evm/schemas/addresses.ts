/** The address calls for EVM chains. */
import { idOf, tagged } from '../../../contract/calls/basics.ts';
import {
  ADDRESS_CALL,
  addressesResponse,
  removedAddressesQuery,
  streamAddressPage,
} from '../../../contract/calls/addresses.ts';
import { component, requestShape } from '../../../contract/named.ts';
import { listQuerySchema } from '../../../contract/requests/account.ts';
import { addresses, labeledAddresses } from '../../../contract/requests/addresses.ts';
import { evmAddress } from './values.ts';

export const evmAddressesSchema = component(
  'EvmAddresses',
  requestShape('AddressesBody', 'One address or several.', addresses(evmAddress)),
);

export const evmLabeledAddressesSchema = component(
  'LabeledEvmAddresses',
  requestShape(
    'LabeledAddressesBody',
    'Addresses to add, or to replace the list with.',
    labeledAddresses(evmAddress),
  ),
);

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
