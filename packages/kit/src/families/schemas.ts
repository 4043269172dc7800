/** Composes the calls and schemas of the chain families. */
import type { ChainFamily } from '../contract/shapes.generated.ts';
import type { Fields } from '../contract/streams/field.ts';
import { aptosAddressesCalls } from './aptos/schemas/addresses.ts';
import { aptosBlocksCalls } from './aptos/schemas/blocks.ts';
import { aptosFields } from './aptos/schemas/fields.ts';
import { aptosStreamsCalls } from './aptos/schemas/streams.ts';
import { evmAddressesCalls } from './evm/schemas/addresses.ts';
import { evmBlocksCalls, pastBlocksCalls } from './evm/schemas/blocks.ts';
import { childrenCalls } from './evm/schemas/children.ts';
import { contractsCalls } from './evm/schemas/contracts.ts';
import { evmFields } from './evm/schemas/fields.ts';
import { evmStreamsCalls } from './evm/schemas/streams.ts';

export { aptosAddressesSchema, aptosLabeledAddressesSchema } from './aptos/schemas/addresses.ts';
export { aptosDryRunSchema } from './aptos/schemas/blocks.ts';
export { createAptosStreamSchema } from './aptos/schemas/streams.ts';
export { evmAddressesSchema, evmLabeledAddressesSchema } from './evm/schemas/addresses.ts';
export { evmDryRunSchema } from './evm/schemas/blocks.ts';
export { createEvmStreamSchema } from './evm/schemas/streams.ts';

/** The rows of the fields of streams. */
export const STREAM_FIELD_ROWS = {
  evm: evmFields,
  aptos: aptosFields,
} as const satisfies Record<ChainFamily, Fields>;

/** The calls of the hosted Streams API about streams and their addresses. */
export const FAMILY_STREAMS_CALLS = {
  ...evmStreamsCalls,
  ...evmAddressesCalls,
  ...aptosStreamsCalls,
  ...aptosAddressesCalls,
};

export { childrenCalls, contractsCalls, pastBlocksCalls };

/** The calls about past blocks that only Sluice has. */
export const FAMILY_BLOCKS_CALLS = { ...evmBlocksCalls, ...aptosBlocksCalls };
