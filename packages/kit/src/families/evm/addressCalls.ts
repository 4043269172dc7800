import type { AddressCalls } from '../../client/addressCalls.ts';
import { invalidArgument, toText } from '../../client/compatible/arguments.ts';
import { ROUTES } from '../../contract/routes.generated.ts';
import { toAddress } from './address.ts';

export const lowerAddress = (value: unknown): string => {
  const address = toAddress(value);
  if (address !== undefined) return address;
  throw invalidArgument(`Invalid address provided: ${toText(value)} is not 0x and 40 hex digits`);
};

export const EVM_ADDRESS_CALLS: AddressCalls = {
  route: ROUTES.addEvmAddresses,
  toAddress: lowerAddress,
};
