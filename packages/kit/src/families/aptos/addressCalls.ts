import type { AddressCalls } from '../../client/addressCalls.ts';
import { invalidArgument, toText } from '../../client/compatible/arguments.ts';
import { ROUTES } from '../../contract/routes.generated.ts';
import { padAptosAddress } from './address.ts';

export const aptosAddress = (value: unknown): string => {
  const address = padAptosAddress(value);
  if (address !== undefined) return address;
  throw invalidArgument(
    `Invalid address provided: ${toText(value)} is not 0x and up to 64 hex digits`,
  );
};

export const APTOS_ADDRESS_CALLS: AddressCalls = {
  route: ROUTES.addAptosAddresses,
  toAddress: aptosAddress,
};
