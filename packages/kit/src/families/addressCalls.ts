/** Composes how the chain families add addresses to streams. */
import type { AddressCalls } from '../client/addressCalls.ts';
import type { ChainFamily } from '../contract/shapes.generated.ts';
import { APTOS_ADDRESS_CALLS } from './aptos/addressCalls.ts';
import { EVM_ADDRESS_CALLS } from './evm/addressCalls.ts';

export const ADDRESS_CALLS: Readonly<Record<ChainFamily, AddressCalls>> = {
  evm: EVM_ADDRESS_CALLS,
  aptos: APTOS_ADDRESS_CALLS,
};
