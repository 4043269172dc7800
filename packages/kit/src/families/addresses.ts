/** Composes how the chain families write addresses. */
import type { ChainFamily } from '../contract/shapes.generated.ts';
import type { AddressFormat } from './addressFormat.ts';
import { APTOS_ADDRESS_FORMAT } from './aptos/addressFormat.ts';
import { EVM_ADDRESS_FORMAT } from './evm/addressFormat.ts';

export const ADDRESS_FORMATS: Readonly<Record<ChainFamily, AddressFormat>> = {
  evm: EVM_ADDRESS_FORMAT,
  aptos: APTOS_ADDRESS_FORMAT,
};
