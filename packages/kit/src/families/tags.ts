import type { FAMILY_TITLES } from './titles.ts';

type Title = (typeof FAMILY_TITLES)[keyof typeof FAMILY_TITLES];

/** Tags of the stream calls of the chain families in the OpenAPI document, with descriptions. */
export const FAMILY_TAGS = {
  'EVM streams': 'Streams on EVM chains and their addresses',
  'Aptos streams': 'Streams on Aptos and their addresses',
} as const satisfies Record<`${Title} streams`, string>;
