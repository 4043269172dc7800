/** The fields of streams of any chain family. */
import type { ChainFamily } from '../contract/shapes.generated.ts';
import {
  type AllStreamRows,
  STREAM_DEFAULTS,
  STREAM_FIELDS,
} from '../contract/streamFields.generated.ts';
import { CHAIN_FAMILIES, CHAIN_FORMATS } from './chains.ts';

/** The fields of streams of any family. Fields with the same name are alike. */
export const ALL_STREAM_FIELDS = Object.assign(
  {},
  ...Object.values(STREAM_FIELDS),
) as AllStreamRows;

/** Returns the default of each field of streams of any family that has one. */
export const allStreamDefaults = (): Readonly<Record<string, unknown>> =>
  Object.assign({}, ...Object.values(STREAM_DEFAULTS).map((toDefaults) => toDefaults()));

/** Family of a new stream if its request names none. */
export const NEW_STREAM_FAMILY: ChainFamily = 'evm';

/** Returns the family of a stream with these fields. */
export const familyOfFields = (fields: object): ChainFamily =>
  CHAIN_FAMILIES.find((family) => CHAIN_FORMATS[family].streamField in fields) ?? NEW_STREAM_FAMILY;
