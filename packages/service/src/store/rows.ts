/** Converts rows of the ledger to the types that the rest of the service uses. */
import { type Kysely, type Selectable, sql } from 'kysely';
import type {
  DeliveryFilter,
  DeliverySummary,
  Job,
  OAuth2Credentials,
  Replay,
} from '@sluice/kit/contract';
import type { Tables } from './engine/tables.ts';
import type { StoredState } from './deliveries/tables.ts';
import type { AddressRecord } from './addresses/contract.ts';
import { DEFAULT_APTOS_OPTIONS, DEFAULT_OPTIONS, type StreamRecord } from './streams/contract.ts';

export const streamColumns = [
  'id',
  'family',
  'tag',
  'description',
  'webhook_url',
  'chain_ids',
  'options',
  'deliver',
  'notify_removed',
  'hold_unverified',
  'headers',
  'oauth2',
  'max_in_flight',
  'max_per_second',
  'strict_order',
  'status',
  'status_message',
  'error_since',
  'address_count',
  'created_at',
  'updated_at',
] as const;

type StreamRow = Pick<Tables['stream'], (typeof streamColumns)[number]>;

export function toStreamRecord(row: StreamRow): StreamRecord {
  const record = {
    id: row.id,
    tag: row.tag,
    description: row.description,
    webhookUrl: row.webhook_url,
    chainIds: JSON.parse(row.chain_ids) as string[],
    headers: JSON.parse(row.headers) as Record<string, string>,
    oauth2: readOAuth2(row.oauth2),
    limits: {
      maxInFlight: row.max_in_flight,
      maxPerSecond: row.max_per_second,
      strictOrder: row.strict_order === 1,
    },
    status: row.status,
    statusMessage: row.status_message,
    errorSince: row.error_since,
    addressCount: row.address_count,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
  if (row.family === 'aptos') {
    return {
      ...record,
      family: 'aptos',
      options: readOptions(DEFAULT_APTOS_OPTIONS, row.options),
    };
  }
  return {
    ...record,
    family: 'evm',
    options: readOptions(DEFAULT_OPTIONS, row.options),
    deliver: row.deliver,
    notifyRemoved: row.notify_removed === 1,
    unverified: row.hold_unverified === 1 ? 'hold' : 'send',
  };
}

/** Reads the stored credentials of a stream, or of a claimed delivery. */
export const readOAuth2 = (json: string | null): OAuth2Credentials | null =>
  json === null ? null : (JSON.parse(json) as OAuth2Credentials);

/**
 * Reads stored options. Missing and null values get their defaults, because older versions wrote
 * null for some empty lists.
 */
const readOptions = <Options extends object>(defaults: Options, json: string): Options => {
  const written = JSON.parse(json) as Partial<Options>;
  const names = Object.keys(defaults) as (keyof Options)[];
  return Object.fromEntries(
    names.map((name) => [name, written[name] ?? defaults[name]]),
  ) as unknown as Options;
};

export const deliveryColumns = [
  'id',
  'match_id',
  'stream_id',
  'tag',
  'chain',
  'block_number',
  'phase',
  'state',
  'records',
  'about',
  'attempts',
  'run_at',
  'last_status',
  'last_error',
  'last_duration_ms',
  'created_at',
  'updated_at',
] as const;

/** Returns whether a delivery waits for an attempt. */
export const isWaiting = ({ state }: Pick<DeliverySummary, 'state'>): boolean =>
  state === 'pending' || state === 'retrying';

export type DeliveryRow = Pick<Tables['delivery'], (typeof deliveryColumns)[number]>;

export function toDeliverySummary(row: DeliveryRow): DeliverySummary {
  return {
    id: row.id,
    streamId: row.stream_id,
    matchId: row.match_id,
    tag: row.tag,
    chainId: row.chain,
    blockNumber: row.block_number,
    phase: row.phase,
    state: row.state === 'pending' && row.attempts > 0 ? 'retrying' : row.state,
    records: row.records,
    about: row.about,
    attempts: row.attempts,
    status: row.last_status,
    error: row.last_error,
    durationMs: row.last_duration_ms,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    nextAttemptAt: row.state === 'pending' ? row.run_at : null,
  };
}

export function toJob(row: Tables['job']): Job {
  return {
    id: row.id,
    streamId: row.stream_id,
    chainId: row.chain,
    blockFrom: row.block_from,
    blockTo: row.block_to,
    nextBlock: row.next_block,
    state: row.state,
    message: row.message,
    matches: row.matches,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/**
 * Converts the row of an address. `adder` is the name of the API key that added the address; null
 * if the ledger does not contain the key.
 */
export const toAddressRecord = (
  row: Pick<Tables['stream_address'], 'address' | 'label' | 'added_at' | 'key_id'> & {
    adder: string | null;
  },
): AddressRecord => ({
  address: row.address,
  label: row.label,
  addedAt: row.added_at,
  addedBy: row.adder ?? row.key_id,
});

/**
 * Expression for the name of the API key that requested a replay; null if the ledger does not
 * contain the key.
 */
export const maker = sql<string | null>`(
  select name from api_key where api_key.id = replay.created_by)`.as('maker');

/**
 * Converts the row of a replay. `counts` contains the number of the replay's deliveries by state,
 * without deliveries that a later replay has sent again.
 */
export function toReplay(
  row: Selectable<Tables['replay']> & { maker: string | null },
  counts: readonly { state: StoredState; n: number }[] = [],
): Replay {
  const count = (...states: StoredState[]): number =>
    counts.filter(({ state }) => states.includes(state)).reduce((sum, { n }) => sum + n, 0);
  return {
    id: row.id,
    name: row.name,
    filter: JSON.parse(row.filter) as DeliveryFilter,
    perSecond: row.per_second,
    state: row.state,
    total: row.total,
    replayed: row.replayed,
    succeeded: count('succeeded'),
    failed: count('failed', 'quarantined'),
    waiting: count('enriching', 'held', 'pending', 'leased'),
    createdBy: row.maker ?? row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Returns as many of the first rows as fit into this number of bytes, but at least one. */
export function takeWithin<Row extends { bytes: number }>(
  rows: readonly Row[],
  mostBytes: number,
): Row[] {
  let bytes = 0;
  const over = rows.findIndex((row, n) => (bytes += row.bytes) > mostBytes && n > 0);
  return over < 0 ? [...rows] : rows.slice(0, over);
}

export async function countRows(
  db: Kysely<Tables>,
  table: keyof Tables,
  where: ReturnType<typeof sql>,
): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from ${sql.table(table)} where ${where}`.execute(db);
  return rows[0]?.n ?? 0;
}
