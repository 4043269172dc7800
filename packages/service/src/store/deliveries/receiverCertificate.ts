import type { SeenCertificate } from '@sluice/kit/contract';
import { type Kysely, sql } from 'kysely';
import { listReceiverLanes } from '../rows/receiverLanes.ts';
import type { Tables } from '../tables/tables.ts';
import { readTransport } from './transport.ts';

/** Limits: the lanes of the receiver, and the newest deliveries of each that are checked. */
const MAX_LANES = 10;
const MAX_CHECKED = 500;

/** Attempts over a reused connection have no certificate, so the last one may be far back. */
export async function readReceiverCertificate(
  db: Kysely<Tables>,
  receiver: string,
): Promise<SeenCertificate | undefined> {
  const lanes = await listReceiverLanes(db, receiver);
  if (lanes.length === 0) return undefined;
  let newest: Pick<Tables['attempt'], 'transport' | 'started_at'> | undefined;
  for (const lane of lanes.slice(0, MAX_LANES)) {
    // A packed transport ends with the certificate.
    const { rows } = await sql<Pick<Tables['attempt'], 'transport' | 'started_at'>>`
      select transport, started_at from (
        select id, block_day from delivery where stream_id = ${lane}
        order by id desc limit ${MAX_CHECKED}) as checked
      join attempt on attempt.delivery_id = checked.id and attempt.block_day = checked.block_day
      where transport like '%}]'
      order by started_at desc limit 1`.execute(db);
    const [row] = rows;
    if (row !== undefined && row.started_at > (newest?.started_at ?? 0)) newest = row;
  }
  if (newest === undefined) return { certificate: null, seenAt: null };
  const { certificate } = readTransport({
    ...newest,
    webhook_url: '',
    status: null,
    duration_ms: 0,
  });
  return { certificate, seenAt: newest.started_at };
}
