import type { AddressFormat } from '../addressFormat.ts';
import { padAptosAddress } from './address.ts';

export const APTOS_ADDRESS_FORMAT: AddressFormat = {
  toAddress: (value) => padAptosAddress(value)?.toLowerCase(),
  digits: 'An Aptos address has 1 to 64 digits',
  doubtOf: (_given, address) =>
    /^0x0+$/.test(address) ? 'This is the zero address, which has no owner' : undefined,
};
