/** Converts a filter of deliveries to conditions on the table `delivery`. */
import type { DeliveryFilter, DeliveryState, OneOrMany } from '@sluice/kit/contract';
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { firstIdAt } from '../rows/ids.ts';
import { toLaneId } from '../rows/laneIds.ts';
import { listReceiverLanes } from '../rows/receiverLanes.ts';
import type { Tables } from '../tables/tables.ts';

type Condition = RawBuilder<SqlBool>;

/** A filter by lanes instead of streams, their destinations and receivers. */
export type LaneFilter = Omit<DeliveryFilter, 'destination' | 'receiver'>;

/**
 * Returns the filter by the lanes of its streams: the lane of one destination, or all of them,
 * including those of removed destinations. A receiver selects its current lanes among them.
 */
export async function inLanes<Filter extends DeliveryFilter>(
  db: Kysely<Tables>,
  { destination, receiver, ...filter }: Filter,
): Promise<Omit<Filter, 'destination' | 'receiver'>> {
  const chosen =
    filter.streamId === undefined
      ? undefined
      : await listStreamLanes(db, listOf(filter.streamId), destination);
  if (receiver === undefined)
    return chosen === undefined ? filter : { ...filter, streamId: chosen };
  const lanes = await listReceiverLanes(db, receiver);
  return { ...filter, streamId: lanes.filter((id) => chosen?.includes(id) ?? true) };
}

async function listStreamLanes(
  db: Kysely<Tables>,
  streamIds: readonly string[],
  destination: number | undefined,
): Promise<readonly string[]> {
  if (destination !== undefined) return streamIds.map((id) => toLaneId(id, destination));
  const added = await db
    .selectFrom('stream')
    .select('id')
    .where('destination_of', 'in', streamIds)
    .execute();
  return [...streamIds, ...added.map(({ id }) => id)];
}

export function toConditions(filter: LaneFilter): Condition[] {
  const conditions: Condition[] = [];
  const add = <Value>(value: Value | undefined, condition: (value: Value) => Condition): void => {
    if (value !== undefined) conditions.push(condition(value));
  };
  add(filter.id, (ids) => isOneOf('id', ids));
  add(filter.streamId, (ids) => isOneOf('stream_id', ids));
  add(filter.chainId, (chains) => isOneOf('chain', chains));
  add(filter.state, (states) => isInState(listOf(states)));
  add(filter.phase, (phases) => isOneOf('phase', phases));
  add(filter.status, (statuses) => sql`(${sql.join(listOf(statuses).map(isAnswered), sql` or `)})`);
  add(filter.error, (text) => sql`lower(last_error) like ${`%${escaped(text)}%`} escape '!'`);
  add(
    filter.transactionHash,
    (hash) => sql`match_id in (
      select match_id from match_transaction where transaction_hash = ${hash.toLowerCase()})`,
  );
  add(filter.blockFrom, (block) => sql`block_number >= ${block}`);
  add(filter.blockTo, (block) => sql`block_number <= ${block}`);
  // Ids sort by creation time.
  add(filter.createdFrom, (ms) => sql`id >= ${firstIdAt(ms)}`);
  add(filter.createdTo, (ms) => sql`id < ${firstIdAt(ms + 1)}`);
  add(filter.attemptsFrom, (attempts) => sql`attempts >= ${attempts}`);
  add(filter.attemptsTo, (attempts) => sql`attempts <= ${attempts}`);
  add(filter.reorged, (reorged) => (reorged ? isReorged : sql`not ${isReorged}`));
  add(filter.replayId, (id) => sql`replay_id = ${id}`);
  return conditions;
}

/** Condition that the match of a delivery is orphaned. */
export const isReorged: Condition = sql`match_id in (select id from match where state = 'orphaned')`;

export const allOf = (conditions: readonly Condition[]): Condition =>
  conditions.length === 0 ? sql`1 = 1` : sql`${sql.join(conditions, sql` and `)}`;

const listOf = <Value>(given: OneOrMany<Value>): readonly Value[] =>
  Array.isArray(given) ? (given as readonly Value[]) : [given as Value];

const isOneOf = (column: string, given: OneOrMany<string>): Condition => {
  const values = listOf(given);
  return values.length === 0 ? sql`1 = 0` : sql`${sql.ref(column)} in (${sql.join(values)})`;
};

/** Condition on the state. The ledger stores a retrying delivery as a pending one with attempts. */
function isInState(states: readonly DeliveryState[]): Condition {
  const stored = states.filter((state) => state !== 'retrying');
  const isIn = sql<SqlBool>`state in (${sql.join(stored.length === states.length ? stored : [...stored, 'pending'])})`;
  const [waits, retries] = [states.includes('pending'), states.includes('retrying')];
  if (waits === retries) return isIn;
  return sql`(${isIn} and (state <> 'pending' or attempts ${waits ? sql`= 0` : sql`> 0`}))`;
}

function isAnswered(status: string): Condition {
  if (status === 'none') return sql`(attempts > 0 and last_status is null)`;
  const first = Number(status[0]) * 100;
  return status.endsWith('xx')
    ? sql`(last_status >= ${first} and last_status < ${first + 100})`
    : sql`last_status = ${Number(status)}`;
}

/** Lowercases the text, and escapes it for `like … escape '!'`. */
export const escaped = (text: string): string => text.toLowerCase().replaceAll(/[!%_]/g, '!$&');
