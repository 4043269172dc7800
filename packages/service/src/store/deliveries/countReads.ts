/** Counts the deliveries that have each value of a filter, so that users can choose a value. */
import type { DeliveryCounts, DeliveryFilter, ValueCount } from '@sluice/kit/contract';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type LaneFilter, allOf, inLanes, isReorged, toConditions } from './deliveryFilter.ts';
import { type Engine, readNow } from '../engine/engine.ts';
import { firstIdAt } from '../rows/ids.ts';
import { destinationOf, streamOf } from '../rows/laneIds.ts';
import type { CountReads } from './contract.ts';
import type { Tables } from '../tables/tables.ts';

/**
 * Maximum number of deliveries to count, starting with the newest. Counting them takes 0.1 s
 * (`bench/results/counts.md`).
 */
const READ_LIMIT = 25_000;

type Field = keyof LaneFilter;
type CountedField = keyof Omit<DeliveryCounts, 'total' | 'isCapped' | 'destination'>;

const MINUTE_MS = 60_000;
const AGES = [
  { value: '15m', ms: 15 * MINUTE_MS },
  { value: '1h', ms: 60 * MINUTE_MS },
  { value: '24h', ms: 24 * 60 * MINUTE_MS },
  { value: '7d', ms: 7 * 24 * 60 * MINUTE_MS },
] as const;

/** For each counted field, the filter fields that are ignored while its values are counted. */
const FIELDS: Readonly<Record<CountedField, readonly Field[]>> = {
  state: ['state'],
  status: ['status'],
  streamId: ['streamId'],
  chainId: ['chainId'],
  phase: ['phase'],
  reorged: ['reorged'],
  attempts: ['attemptsFrom', 'attemptsTo'],
  age: ['createdFrom', 'createdTo'],
};
const COUNTED_FIELDS = Object.keys(FIELDS) as CountedField[];

/** SQL expressions for the value of each counted field in a group. */
const VALUES: Readonly<Record<CountedField, RawBuilder<string | null>>> = {
  state: sql`case when state = 'pending' and attempts > 0 then 'retrying' else state end`,
  status: sql`case when last_status is not null then cast(last_status as text)
    when attempts > 0 then 'none' end`,
  streamId: sql`stream_id`,
  chainId: sql`chain`,
  phase: sql`phase`,
  reorged: sql`reorged`,
  attempts: sql`cast(attempts as text)`,
  age: sql`age`,
};

const keep = (filter: LaneFilter, isKept: (field: Field) => boolean): LaneFilter =>
  Object.fromEntries(Object.entries(filter).filter(([field]) => isKept(field as Field)));

const GROUP_COLUMNS = {
  state: 'text',
  phase: 'text',
  chain: 'text',
  stream_id: 'text',
  last_status: 'bigint',
  attempts: 'bigint',
  reorged: 'text',
  age: 'text',
} as const;

type GroupColumn = keyof typeof GROUP_COLUMNS;

/** Columns by which each field is counted and filtered. */
const COLUMNS: Readonly<Record<CountedField, readonly GroupColumn[]>> = {
  state: ['state', 'attempts'],
  status: ['last_status', 'attempts'],
  streamId: ['stream_id'],
  chainId: ['chain'],
  phase: ['phase'],
  reorged: ['reorged'],
  attempts: ['attempts'],
  age: ['age'],
};

/** Fields that an index covers. They select the deliveries to which `READ_LIMIT` applies. */
const STRETCH: readonly Field[] = [
  ...FIELDS.streamId,
  ...FIELDS.age,
  'replayId',
  'transactionHash',
  'id',
];
/**
 * Fields that are applied to the groups, so that each field can be counted without its own filter.
 */
const GROUPED = COUNTED_FIELDS.flatMap((name) => FIELDS[name]).filter(
  (field) => !STRETCH.includes(field),
);

/** Returns whether the filter sets any of `fields` that belong to the counted field `name`. */
const isChosen = (filter: LaneFilter, name: CountedField, fields: readonly Field[]): boolean =>
  FIELDS[name].some((field) => fields.includes(field) && filter[field] !== undefined);

/** Sums the counts of lanes that have the same value, such as their stream; highest first. */
function sumLanes(
  counts: readonly ValueCount[],
  valueOf: (laneId: string) => string,
): ValueCount[] {
  return [...Map.groupBy(counts, ({ value }) => valueOf(value))]
    .map(([value, lanes]) => ({
      value,
      count: lanes.reduce((sum, { count }) => sum + count, 0),
    }))
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

const hasDestination = (laneId: string): boolean => destinationOf(laneId) > 0;

export function createCountReads(db: Kysely<Tables>, engine: Engine): CountReads {
  /** Counts the values of these fields. `isCapped`: older deliveries were not counted. */
  const count = async (
    filter: LaneFilter,
    names: readonly CountedField[],
  ): Promise<{ counts: Map<string, ValueCount[]>; isCapped: boolean }> => {
    const stretch = toConditions(keep(filter, (field) => STRETCH.includes(field)));
    const { rows: last } = await sql<{ id: string }>`
      select id from delivery where ${allOf(stretch)}
      order by id desc limit 1 offset ${READ_LIMIT}`.execute(db);
    const older = last[0];
    if (older !== undefined) stretch.push(sql`id > ${older.id}`);
    const now = await readNow(engine, db);
    const ages = sql.join(
      AGES.map(({ value, ms }) => sql`when id >= ${firstIdAt(now - ms)} then ${sql.lit(value)}`),
      sql` `,
    );
    const toColumn = (column: GroupColumn): RawBuilder<unknown> => {
      if (column === 'reorged') return sql`case when ${isReorged} then 'true' else 'false' end`;
      if (column === 'age') return sql`case ${ages} else 'older' end`;
      // Keeps the planner from choosing the index by stream, which scans the deliveries of all streams.
      if (column === 'stream_id') return sql`stream_id || ''`;
      return sql.ref(column);
    };
    // Each column makes grouping slower, so only the needed ones are included.
    const columns = new Set(
      COUNTED_FIELDS.filter(
        (name) => names.includes(name) || isChosen(filter, name, GROUPED),
      ).flatMap((name) => COLUMNS[name]),
    );
    const others = toConditions(
      keep(filter, (field) => !STRETCH.includes(field) && !GROUPED.includes(field)),
    );
    const chosenBut = (name: CountedField | undefined) => {
      const own = name === undefined ? [] : FIELDS[name];
      const { reorged, ...rest } = keep(
        filter,
        (field) => GROUPED.includes(field) && !own.includes(field),
      );
      const conditions = toConditions(rest);
      if (reorged !== undefined) conditions.push(sql`reorged = ${String(reorged)}`);
      return allOf(conditions);
    };
    // Groups the deliveries once, so that the query below reads only a few rows.
    const listed = sql.join([...columns].map((column) => sql.ref(column)));
    const { rows: groups } = await sql<object>`
      select ${listed}, count(*) as n
      from (
        select ${sql.join([...columns].map((column) => sql`${toColumn(column)} as ${sql.ref(column)}`))}
        from delivery where ${allOf([...stretch, ...others])}
      ) as looked
      group by ${listed}`.execute(db);
    const types = Object.fromEntries([...columns].map((column) => [column, GROUP_COLUMNS[column]]));
    const questions = [
      sql`select 'total' as name, '' as value, cast(coalesce(sum(n), 0) as bigint) as n
        from groups where ${chosenBut(undefined)}`,
      ...names.map(
        (
          name,
        ) => sql`select ${sql.lit(name)} as name, ${VALUES[name]} as value, cast(sum(n) as bigint) as n
          from groups where ${chosenBut(name)} group by ${VALUES[name]}`,
      ),
    ];
    const { rows } = await sql<{ name: string; value: string | null; n: number }>`
      with groups as materialized (
        select * from ${engine.rows(groups, { ...types, n: 'bigint' })} as counted)
      ${sql.join(questions, sql` union all `)}`.execute(db);
    const found = rows.flatMap(({ name, value, n }) =>
      value === null ? [] : [{ name, value, n }],
    );
    const counts = new Map(
      [...Map.groupBy(found, ({ name }) => name)].map(([name, list]) => [
        name,
        list
          .toSorted((a, b) => b.n - a.n || (a.value < b.value ? -1 : 1))
          .map(({ value, n }) => ({ value, count: n })),
      ]),
    );
    return { counts, isCapped: older !== undefined };
  };

  /** Counts the deliveries to each destination, whichever of them the filter selects. */
  const countDestinations = async ({
    destination: _ignored,
    ...given
  }: DeliveryFilter): Promise<ValueCount[]> => {
    const filter = await inLanes(db, given);
    if (![filter.streamId ?? []].flat().some(hasDestination)) return [];
    const { counts } = await count(filter, ['streamId']);
    return sumLanes(counts.get('streamId') ?? [], (lane) => String(destinationOf(lane)));
  };

  return {
    async countByField(given) {
      const filter = await inLanes(db, given);
      // These fields must be counted separately, because each count ignores its own field and thus
      // reads a different range of the index.
      const apart = COUNTED_FIELDS.filter((name) => isChosen(filter, name, STRETCH));
      const { counts, isCapped } = await count(
        filter,
        COUNTED_FIELDS.filter((name) => !apart.includes(name)),
      );
      for (const name of apart) {
        const without = keep(filter, (field) => !FIELDS[name].includes(field));
        counts.set(name, (await count(without, [name])).counts.get(name) ?? []);
      }
      const listOf = (name: CountedField) => counts.get(name) ?? [];
      return {
        total: counts.get('total')?.[0]?.count ?? 0,
        isCapped,
        state: listOf('state'),
        status: listOf('status'),
        streamId: sumLanes(listOf('streamId'), streamOf),
        destination: await countDestinations(given),
        chainId: listOf('chainId'),
        phase: listOf('phase'),
        reorged: listOf('reorged'),
        attempts: listOf('attempts'),
        age: listOf('age'),
      };
    },
  };
}
