/** The fields of a stream that a draft has under their API names: switches, choices and numbers. */
import type { NetworkType } from '@sluice/kit';
import {
  ALL_STREAM_FIELDS,
  STREAM_FIELDS,
  type AllStreamFields,
  type StreamFieldView,
  allStreamDefaults,
} from '@sluice/kit/contract';

type Rows = typeof ALL_STREAM_FIELDS;

type NameOf<Kind extends StreamFieldView['kind']> = {
  [Name in keyof Rows]: Rows[Name] extends { kind: Kind; label: string } ? Name : never;
}[keyof Rows];

export type NumberFieldName = NameOf<'integer' | 'number'>;
export type CheckFieldName = NameOf<'boolean' | 'choice'>;

/** Numbers as typed; empty for none. */
export type PlainDraft = Record<NameOf<'boolean'>, boolean> &
  Record<NumberFieldName, string> &
  Pick<AllStreamFields, NameOf<'choice'>>;

/** Fields of streams of all families. */
export const FIELDS: Readonly<Record<string, StreamFieldView>> = ALL_STREAM_FIELDS;

/** Returns whether streams of all families have the field. */
export const isShared = (name: string): boolean =>
  Object.values(STREAM_FIELDS).every((rows) => name in rows);

const isNumber = ({ kind }: StreamFieldView): boolean => kind === 'integer' || kind === 'number';
const isCheck = ({ kind }: StreamFieldView): boolean => kind === 'boolean' || kind === 'choice';
const isPlain = (row: StreamFieldView): boolean =>
  row.label !== undefined && (isNumber(row) || isCheck(row));

const inputsOf = (
  family: NetworkType,
  part: 'match' | 'deliver',
  isOfKind: (row: StreamFieldView) => boolean,
): string[] =>
  Object.entries(STREAM_FIELDS[family])
    .filter(([, row]) => row.input?.part === part && isOfKind(row))
    .map(([name]) => name);

/** Returns the names of the checkboxes in a part of the form. */
export const listCheckFields = (family: NetworkType, part: 'match' | 'deliver'): CheckFieldName[] =>
  inputsOf(family, part, isCheck) as CheckFieldName[];

/** Returns the names of the number inputs in a part of the form. */
export const listNumberFields = (
  family: NetworkType,
  part: 'match' | 'deliver',
): NumberFieldName[] => inputsOf(family, part, isNumber) as NumberFieldName[];

/** Returns the plain fields of a stream as the form shows them. */
export const toPlainDraft = (stream: object): Partial<PlainDraft> =>
  Object.fromEntries(
    Object.entries(stream).flatMap(([name, value]) => {
      const row = FIELDS[name];
      if (row === undefined || !isPlain(row)) return [];
      return [[name, isNumber(row) ? String(value ?? '') : (value as unknown)]];
    }),
  );

export const NEW_PLAIN = toPlainDraft(allStreamDefaults()) as PlainDraft;

const toNumberOrNull = (text: string): number | null => (text.trim() === '' ? null : Number(text));

/**
 * Returns the API fields of a draft: the given ones, and the plain ones of the family. Fields that
 * the form does not have are left out.
 */
export const toPlainFields = (
  { family, ...draft }: PlainDraft & { family: NetworkType },
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(STREAM_FIELDS[family]).flatMap(([name, row]) => {
      if (name in given) return [[name, given[name]]];
      if (!isPlain(row)) return [];
      const value = (draft as Readonly<Record<string, unknown>>)[name];
      return [[name, isNumber(row) ? toNumberOrNull(value as string) : value]];
    }),
  );

/** Returns whether the box of a switch, or of a choice between two values, is checked. */
export const isChecked = (draft: PlainDraft, name: CheckFieldName): boolean =>
  draft[name] === (FIELDS[name]?.input?.checked ?? true);

export const withCheck = <Draft extends PlainDraft>(
  draft: Draft,
  name: CheckFieldName,
  checked: boolean,
): Draft => ({
  ...draft,
  [name]: checked ? (FIELDS[name]?.input?.checked ?? true) : NEW_PLAIN[name],
});
