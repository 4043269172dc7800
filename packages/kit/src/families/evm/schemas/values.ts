/** Schemas of addresses and chains. */
import * as z from 'zod';
import { CHAIN_ID, param } from '../../../contract/calls/basics.ts';
import { toAddress } from '../address.ts';
import { toChainId } from '../chains.ts';

/** An EVM address in any casing; the parsed form is lowercase. */
export const evmAddress = z.string().transform((text, context) => {
  const address = toAddress(text);
  if (address !== undefined) return address;
  context.addIssue({
    code: 'custom',
    message: 'should be an EVM address: 0x and 40 hex digits',
    input: text,
  });
  return z.NEVER;
});

export const evmChainParam = param(toChainId, 'should be a chain ID in hex, e.g. 0x1', CHAIN_ID);
export const addressParam = param(toAddress, 'should be an address, 0x and 40 hex digits', {
  type: 'string',
  description: 'EVM address',
});
