/** Schemas of addresses and networks. */
import * as z from 'zod';
import { param } from '../../../contract/calls/basics.ts';
import { shape } from '../../../contract/named.ts';
import { normalized } from '../../../contract/requests/fields.ts';
import { padAptosAddress } from '../address.ts';
import { APTOS_NETWORKS, toAptosNetwork } from '../chains.ts';

export const aptosNetwork = shape(
  'AptosNetwork',
  'An Aptos network; `local` is Sluice only, for a local chain.',
  z.enum(APTOS_NETWORKS),
);

/**
 * An Aptos address in any casing; leading zeros are optional. The parsed form is `0x` and 64
 * lowercase hex digits.
 */
export const aptosAddress = normalized(
  (value) => padAptosAddress(value)?.toLowerCase(),
  'should be an Aptos address: 0x and up to 64 hex digits',
).meta({ type: 'string' });

export const networkParam = param(toAptosNetwork, 'should be an Aptos network, e.g. mainnet', {
  type: 'string',
  enum: [...APTOS_NETWORKS, '1', '2'],
});
