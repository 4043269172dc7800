/** The address format of each chain family, and the error for an invalid address. */
import { type ChainFamily, cutText, padAptosAddress, toAddress } from '@sluice/kit/contract';
import {
  aptosAddressesSchema,
  aptosLabelledAddressesSchema,
  evmAddressesSchema,
  evmLabelledAddressesSchema,
} from '@sluice/kit/calls';
import { HttpError } from '../../answers.ts';

export const ADDRESS_FAMILIES = {
  evm: {
    width: 20,
    schema: evmAddressesSchema,
    labelledSchema: evmLabelledAddressesSchema,
    /** Returns the address in lowercase with all leading zeros; undefined if it is invalid. */
    toAddress,
    should: 'an EVM address: 0x and 40 hex digits',
  },
  aptos: {
    width: 32,
    schema: aptosAddressesSchema,
    labelledSchema: aptosLabelledAddressesSchema,
    toAddress: (text: string) => padAptosAddress(text)?.toLowerCase(),
    should: 'an Aptos address: 0x and up to 64 hex digits',
  },
} as const satisfies Record<ChainFamily, unknown>;

export type AddressFamily = (typeof ADDRESS_FAMILIES)[ChainFamily];

const ECHO_LIMIT = 200;

export const invalidAddress = (
  { should }: AddressFamily,
  field: string,
  value: string,
): HttpError =>
  new HttpError(400, 'Invalid address provided', {
    [field]: {
      message: `should be ${should}`,
      value: cutText(value, ECHO_LIMIT),
    },
  });
