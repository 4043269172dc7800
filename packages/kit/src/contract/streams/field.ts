/**
 * A field of a stream is one row of a table: its types, its default, and how the command line and
 * the console show it. The requests and responses, the defaults of the store and the clients, the
 * flags and the form are derived from the rows.
 */
import * as z from 'zod';
import { given } from '../requests/fields.ts';
import type { StreamFieldView } from '../streamFieldView.ts';

export interface Field extends StreamFieldView {
  readonly description?: string;
  /** Whether the hosted service rejects the field. */
  readonly isSluiceOnly?: true;
  /** Schema in requests. Omitted if only the service sets the field. */
  readonly accepts?: z.ZodType;
  /** Schema in responses. Omitted if no response has the field. */
  readonly returns?: z.ZodType;
  /** Value of a stored stream or a response without the field. Omitted if none lacks it. */
  readonly default?: unknown;
}

export type Fields = Readonly<Record<string, Field>>;

/** Creates the row of a field that is on or off. */
export const boolean = <const Row extends Omit<Field, 'kind' | 'returns'>>(row: Row) => ({
  ...row,
  kind: 'boolean' as const,
  accepts: given(z.boolean()),
  returns: z.boolean(),
  default: false,
  description: `${row.description} Default: false.`,
});

/**
 * Creates the row of an optional number, with the bounds of its input. Null, the default, means that
 * the service's own value applies, or that there is no limit.
 */
export const optionalNumber = <
  const Row extends Omit<Field, 'returns'> & { kind: 'integer' | 'number' },
  const Input extends NonNullable<Field['input']> & { least: number; most: number },
>(
  row: Row & { input: Input },
) => {
  const { least, most } = row.input;
  const [schema, a] = row.kind === 'integer' ? [z.int, 'a whole number'] : [z.number, 'a number'];
  return {
    ...row,
    accepts: schema({ error: `should be ${a} from ${least} to ${most}, or null` })
      .min(least, { error: `should be at least ${least}` })
      .max(most, { error: `should be at most ${most}` })
      .nullish(),
    returns: (row.kind === 'integer' ? z.int() : z.number()).nullable(),
    default: null,
  };
};

/** Names of the fields whose rows have these properties. */
type Names<Table extends Fields, Properties> = {
  [Name in keyof Table]: Table[Name] extends Properties ? Name : never;
}[keyof Table];

type Accepting = { accepts: z.ZodType };

type Created<Table extends Fields> = {
  [Name in Names<Table, Accepting>]: Extract<Table[Name], Accepting>['accepts'];
};

type Given<Schema extends z.ZodType> = z.ZodType<
  z.output<Schema> | undefined,
  z.input<Schema> | null | undefined
>;

type Updated<Table extends Fields> = {
  [Name in keyof Created<Table>]: Table[Name] extends { isRequired: true }
    ? Given<Created<Table>[Name]>
    : Created<Table>[Name];
};

type Tried<Table extends Fields> = {
  [
    Name in keyof Updated<Table> as Table[Name] extends { isTried: true } ? Name : never
  ]: Updated<Table>[Name];
};

type Returning = { returns: z.ZodType };

type Returned<Table extends Fields> = {
  [Name in Names<Table, Returning>]: Extract<Table[Name], Returning>['returns'];
};

/** Returns the fields of requests for new streams. */
export const toCreated = <Table extends Fields>(table: Table): Created<Table> =>
  pick(table, ({ accepts }) => accepts) as Created<Table>;

/** Returns the fields of updates, none of which is required. */
export const toUpdated = <Table extends Fields>(table: Table): Updated<Table> =>
  pick(table, toOptional) as Updated<Table>;

/** Returns the fields of dry runs. */
export const toTried = <Table extends Fields>(table: Table): Tried<Table> =>
  pick(table, (field) => (field.isTried ? toOptional(field) : undefined)) as Tried<Table>;

/** Returns the fields of responses. */
export const toReturned = <Table extends Fields>(table: Table): Returned<Table> =>
  pick(table, ({ returns }) => returns) as Returned<Table>;

const toOptional = ({ accepts, isRequired }: Field): z.ZodType | undefined =>
  accepts && isRequired ? given(accepts) : accepts;

function pick(table: Fields, schemaOf: (field: Field) => z.ZodType | undefined): object {
  return Object.fromEntries(
    Object.entries(table).flatMap(([name, field]) => {
      const schema = schemaOf(field);
      return schema === undefined ? [] : [[name, describe(schema, field)]];
    }),
  );
}

function describe(schema: z.ZodType, { description = '', isSluiceOnly }: Field): z.ZodType {
  const text = isSluiceOnly ? `${description} Sluice only.` : description;
  return text === '' ? schema : schema.describe(text);
}
