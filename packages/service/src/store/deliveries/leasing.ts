/** Leases deliveries, and reads what their attempts need. */
import { randomUUID } from 'node:crypto';
import { type Retries, retryWaitsMs } from '@sluice/kit/contract';
import { sql } from 'kysely';
import { joinBody } from '../blocks/body.ts';
import type { DayFilter } from '../engine/days.ts';
import type { Engine } from '../engine/engine.ts';
import { packTexts } from '../engine/packedTexts.ts';
import { originOf } from '../rows/origin.ts';
import { readOAuth2 } from '../rows/oauth2.ts';
import type { SealedSecret } from '../tables/streams.ts';
import type { Db, Tables } from '../tables/tables.ts';
import type { ClaimedDelivery } from './contract.ts';

/** A delivery to claim, and the milliseconds until its turn. */
export interface DeliveryTurn {
  id: string;
  waitMs: number;
}

type LeasedRow = Pick<
  Tables['delivery'],
  | 'id'
  | 'match_id'
  | 'stream_id'
  | 'phase'
  | 'attempts'
  | 'fast_retried'
  | 'records'
  | 'body_bytes'
  | 'replay_id'
>;

/** Leases the deliveries that are still pending. */
export async function leaseDeliveries(
  trx: Db,
  engine: Engine,
  due: readonly DeliveryTurn[],
  open: DayFilter,
  now: number,
  leaseMs: number,
): Promise<ClaimedDelivery[]> {
  if (due.length === 0) return [];
  const leaseToken = randomUUID();
  const listed = (each: readonly { id: string }[]) =>
    engine.texts(
      each.map(({ id }) => id),
      'id',
    );
  const waitOf = new Map(due.map(({ id, waitMs }) => [id, waitMs]));
  // Skips deliveries that are no longer pending, because they were canceled in the meantime.
  const { rows } = await sql<LeasedRow>`
    update delivery set state = 'leased', claims = claims + 1,
      lease_token = ${leaseToken}, lease_until = ${now + leaseMs}
    where ${open('block_day')} and id in (select id from ${listed(due)} as due)
      and ${engine.opaque('state')} = 'pending'
    returning id, match_id, stream_id, phase, attempts, fast_retried, records, body_bytes,
      replay_id`.execute(trx);
  if (rows.length === 0) return [];
  const matchIds = listed(rows.map((row) => ({ id: row.match_id })));
  const [matches, streams] = await engine.pipeline(trx, [
    () =>
      trx
        .selectFrom('match')
        .select(['id', 'state', 'body_head', 'body_tail', 'part', 'parts', 'origin', 'unverified'])
        .where(open('block_day'))
        .where(sql<boolean>`id in (select id from ${matchIds} as asked)`)
        .compile(),
    () =>
      trx
        .selectFrom('stream')
        .select([
          'id',
          'webhook_url',
          'headers',
          'oauth2',
          'secrets',
          'status',
          'timeout_seconds',
          'retries',
        ])
        .where('id', 'in', [...new Set(rows.map((row) => row.stream_id))])
        .compile(),
  ]);
  const matchOf = new Map(matches.map((match) => [match.id, match]));
  // The deliveries of a stream share one object, which is copied only once between threads.
  const endpointOf = new Map(
    streams.map((stream) => [
      stream.id,
      {
        streamId: stream.id,
        webhookUrl: stream.webhook_url,
        headers: JSON.parse(stream.headers) as Record<string, string>,
        oauth2: readOAuth2(stream.oauth2),
        secrets: JSON.parse(stream.secrets) as SealedSecret[],
        timeoutMs: stream.timeout_seconds === null ? undefined : stream.timeout_seconds * 1_000,
        retryWaitsMs: retryWaitsMs(JSON.parse(stream.retries) as Retries),
        isProbe: stream.status === 'error',
      },
    ]),
  );
  const obsolete = new Set(
    rows
      .filter((row) => row.phase !== 'removed' && row.replay_id === null)
      .filter((row) => matchOf.get(row.match_id)?.state === 'orphaned')
      .map(({ id }) => id),
  );
  await cancelObsolete(trx, [...obsolete], open, now);
  const found = rows.flatMap((row) => {
    const match = matchOf.get(row.match_id);
    const endpoint = endpointOf.get(row.stream_id);
    if (match === undefined || endpoint === undefined || obsolete.has(row.id)) return [];
    return [{ row, match, endpoint }];
  });
  const bodies = packTexts(
    found.map(({ row, match }) =>
      joinBody({
        bodyHead: match.body_head,
        bodyTail: match.body_tail,
        phase: row.phase,
        retries: row.attempts,
      }),
    ),
  );
  return found.map(({ row, match, endpoint }, n) => ({
    id: row.id,
    leaseToken,
    claimedAt: now,
    phase: row.phase,
    attempts: row.attempts,
    fastRetried: row.fast_retried === 1,
    body: bodies[n]!,
    bodyBytes: row.body_bytes,
    records: row.records,
    part: match.part,
    parts: match.parts,
    origin: row.replay_id === null ? originOf(match.origin) : 'replay',
    unverified: match.unverified,
    ...endpoint,
    waitMs: waitOf.get(row.id) ?? 0,
  }));
}

/**
 * Cancels deliveries whose blocks left the chain. A reorg may miss a delivery that is returned to the
 * queue by a transaction that commits at the same time.
 */
async function cancelObsolete(
  trx: Db,
  ids: readonly string[],
  open: DayFilter,
  now: number,
): Promise<void> {
  if (ids.length === 0) return;
  await trx
    .updateTable('delivery')
    .set({ state: 'cancelled', lease_token: null, lease_until: null, updated_at: now })
    .where(open('block_day'))
    .where('id', 'in', ids)
    .execute();
}
