/** The flags of the fields of a stream. Fields without a flag can be set only in files. */
import {
  APTOS_STREAM_FIELDS,
  EVM_STREAM_FIELDS,
  OAUTH2_FIELDS,
  type StreamFieldView,
} from '@sluice/kit/contract';

export interface FieldFlag extends Pick<StreamFieldView, 'kind'> {
  readonly field: string;
  readonly syntax: string;
  readonly help: string;
}

const listFlags = (rows: Readonly<Record<string, StreamFieldView>>): FieldFlag[] =>
  Object.entries(rows).flatMap(([field, { kind, flag }]) =>
    flag === undefined ? [] : [{ field, kind, ...flag }],
  );

/** Flags by family. A flag that both families have sets the field of the stream's family. */
export const FLAGS = { evm: listFlags(EVM_STREAM_FIELDS), aptos: listFlags(APTOS_STREAM_FIELDS) };

export const withoutDuplicates = (flags: readonly FieldFlag[]): FieldFlag[] =>
  flags.filter(({ syntax }, n) => flags.findIndex((each) => each.syntax === syntax) === n);

export const nameOf = ({ syntax }: Pick<FieldFlag, 'syntax'>): string => syntax.split(' ')[0]!;

/** Returns the flag of a field, or the first of several; undefined if it has none. */
export function flagOf(field: string): string | undefined {
  if (field === 'oauth2') return nameOf(OAUTH2_FIELDS.tokenUrl.flag);
  const flag = [...FLAGS.evm, ...FLAGS.aptos].find((each) => each.field === field);
  return flag && nameOf(flag);
}
