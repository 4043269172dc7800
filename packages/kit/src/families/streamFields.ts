/** Composes the fields of streams of the chain families. */
import type { AptosStream, ChainFamily, EvmStream } from '../contract/shapes.generated.ts';
import {
  APTOS_STREAM_FIELDS,
  EVM_STREAM_FIELDS,
  aptosStreamDefaults,
  evmStreamDefaults,
} from '../contract/streamFields.generated.ts';
import type { StreamFieldView } from '../contract/streamFieldView.ts';
import { CHAIN_FAMILIES, CHAIN_FORMATS } from './chains.ts';

type Rows = Readonly<Record<string, StreamFieldView>>;

/** The fields of streams by family. */
export const STREAM_FIELDS: Readonly<Record<ChainFamily, Rows>> = {
  evm: EVM_STREAM_FIELDS,
  aptos: APTOS_STREAM_FIELDS,
};

/** The fields of streams of any family. Fields with the same name are alike. */
export const ALL_STREAM_FIELDS = { ...APTOS_STREAM_FIELDS, ...EVM_STREAM_FIELDS };

/** Types of the fields of streams of any family. */
export type AllStreamFields = EvmStream & AptosStream;

/** Returns the default of each field of streams of any family that has one. */
export const allStreamDefaults = (): Readonly<Record<string, unknown>> => ({
  ...aptosStreamDefaults(),
  ...evmStreamDefaults(),
});

/** Family of a new stream if its request names none. */
export const NEW_STREAM_FAMILY: ChainFamily = 'evm';

/** Returns the family of a stream with these fields. */
export const familyOfFields = (fields: object): ChainFamily =>
  CHAIN_FAMILIES.find((family) => CHAIN_FORMATS[family].streamField in fields) ?? NEW_STREAM_FAMILY;
