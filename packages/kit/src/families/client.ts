/** Composes the stream calls of the compatible API. */
import type { Calls } from '../client/calls.ts';
import type { NetworkCalls } from '../client/compatible/networkCalls.ts';
import { SluiceError } from '../errors.ts';
import type { AptosNetworkTypes } from './aptos/client.ts';
import { APTOS_CALLS } from './aptos/client.ts';
import type { EvmNetworkTypes, EvmStreamsClient } from './evm/client.ts';
import { createEvmStreams, EVM_CALLS } from './evm/client.ts';

export type { AptosStreamChanges, AptosStreamFields } from './aptos/client.ts';
export type {
  BlockIdentifier,
  DryRunOptions,
  HistoricalJobOptions,
  Stream,
  StreamChanges,
  StreamFields,
} from './evm/client.ts';

/** The chain families, with the types of their stream calls. */
export interface Networks {
  evm: EvmNetworkTypes;
  aptos: AptosNetworkTypes;
}

/** The name of a chain family: `evm` or `aptos`. */
export type NetworkType = keyof Networks;

/** The stream calls that only one family has. */
export interface FamilyStreamsClient extends EvmStreamsClient {}

export const createFamilyStreams = (calls: Calls): FamilyStreamsClient => createEvmStreams(calls);

const NETWORK_CALLS = new Map<unknown, NetworkCalls>(
  Object.entries({ evm: EVM_CALLS, aptos: APTOS_CALLS } satisfies Record<
    NetworkType,
    NetworkCalls
  >),
);

/**
 * Returns the calls of a chain family, by default EVM. Throws `invalid_network` for other values,
 * which callers without TypeScript may pass.
 */
export function networkCallsOf(networkType: unknown = 'evm'): NetworkCalls {
  const calls = NETWORK_CALLS.get(networkType);
  if (calls !== undefined) return calls;
  throw new SluiceError(
    'invalid_network',
    `Incorrect network provided. Got "${networkType as string}", Valid values are: "aptos", "evm"`,
  );
}
