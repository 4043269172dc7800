/** Converts rows of streams to the type that the rest of the service uses. */
import { sql } from 'kysely';
import type { Retries } from '@sluice/kit/contract';
import { fromConfirmColumns } from '../blocks/confirmations.ts';
import { readOAuth2 } from '../rows/oauth2.ts';
import type { Tables } from '../tables/tables.ts';
import { destinationOf, streamOf } from '../rows/laneIds.ts';
import { type DestinationRecord, STREAM_FAMILIES, type StreamRecord } from './contract.ts';

const columns = [
  'id',
  'family',
  'tag',
  'description',
  'webhook_url',
  'chain_ids',
  'options',
  'deliver',
  'confirm_by',
  'confirm_depth',
  'notify_removed',
  'hold_unverified',
  'headers',
  'oauth2',
  'max_in_flight',
  'max_per_second',
  'strict_order',
  'timeout_seconds',
  'retries',
  'status',
  'status_message',
  'error_since',
  'address_count',
  'created_at',
  'updated_at',
] as const;

const childCount = sql<number>`(
  select cast(coalesce(sum(children), 0) as bigint) from child_list where stream_id = stream.id)`;

export const streamColumns = [...columns, childCount.as('child_count')] as const;

type StreamRow = Pick<Tables['stream'], (typeof columns)[number]> & { child_count: number };

export function toStreamRecord(row: StreamRow): StreamRecord {
  const record = {
    id: row.id,
    tag: row.tag,
    description: row.description,
    webhookUrl: row.webhook_url,
    chainIds: JSON.parse(row.chain_ids) as string[],
    headers: JSON.parse(row.headers) as Record<string, string>,
    oauth2: readOAuth2(row.oauth2),
    deliver: row.deliver,
    confirmations: fromConfirmColumns(row),
    notifyRemoved: row.notify_removed === 1,
    unverified: row.hold_unverified === 1 ? ('hold' as const) : ('send' as const),
    limits: {
      maxInFlight: row.max_in_flight,
      maxPerSecond: row.max_per_second,
      strictOrder: row.strict_order === 1,
      timeoutSeconds: row.timeout_seconds,
      retries: JSON.parse(row.retries) as Retries,
    },
    status: row.status,
    statusMessage: row.status_message,
    errorSince: row.error_since,
    addressCount: row.address_count,
    childCount: row.child_count,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
  return {
    ...record,
    family: row.family,
    options: readOptions<StreamRecord['options']>(
      STREAM_FAMILIES[row.family].defaults,
      row.options,
    ),
  } as StreamRecord;
}

/** Converts the row of an additional destination. */
export function toDestination(row: StreamRow): DestinationRecord {
  const { id, description, webhookUrl, headers, oauth2, limits, ...record } = toStreamRecord(row);
  return {
    streamId: streamOf(id),
    destination: destinationOf(id),
    description,
    webhookUrl,
    headers,
    oauth2,
    limits,
    status: record.status,
    statusMessage: record.statusMessage,
    errorSince: record.errorSince,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
  };
}

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
