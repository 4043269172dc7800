/** Composes the schemas of new streams. */
import type { NetworkType } from '@sluice/kit';
import { createAptosStreamSchema, createEvmStreamSchema } from '@sluice/kit/calls';

export const CREATE_STREAM_SCHEMAS = {
  evm: createEvmStreamSchema,
  aptos: createAptosStreamSchema,
} satisfies Readonly<Record<NetworkType, unknown>>;
