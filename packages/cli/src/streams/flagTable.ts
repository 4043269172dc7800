/** The flags of the fields of a stream. Fields without a flag can be set only in files. */
import type { NetworkType } from '@sluice/kit';
import {
  CHAIN_FAMILIES,
  OAUTH2_FIELDS,
  STREAM_FIELDS,
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

/**
 * Returns the flags of all families, first those of `family`. A flag that several families have sets
 * the field of the stream's family.
 */
export function flagsOf(family?: NetworkType): FieldFlag[] {
  const others = CHAIN_FAMILIES.filter((each) => each !== family);
  const families = family === undefined ? others : [family, ...others];
  return withoutDuplicates(families.flatMap((each) => listFlags(STREAM_FIELDS[each])));
}

const withoutDuplicates = (flags: readonly FieldFlag[]): FieldFlag[] =>
  flags.filter(({ syntax }, n) => flags.findIndex((each) => each.syntax === syntax) === n);

export const nameOf = ({ syntax }: Pick<FieldFlag, 'syntax'>): string => syntax.split(' ')[0]!;

/** Returns the flag of a field, or the first of several; undefined if it has none. */
export function flagOf(field: string): string | undefined {
  if (field === 'oauth2') return nameOf(OAUTH2_FIELDS.tokenUrl.flag);
  const flag = flagsOf().find((each) => each.field === field);
  return flag && nameOf(flag);
}
