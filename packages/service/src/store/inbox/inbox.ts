/**
 * Stores the requests that inboxes receive. Each inbox limits the number and the total size of its
 * requests, but always keeps the newest.
 */
import { type Kysely, type Selectable, sql } from 'kysely';
import {
  DEFAULT_INBOX_RESPONSE,
  type Inbox,
  type InboxDelivery,
  type InboxRequestSummary,
  type InboxResponse,
  toInboxUrl,
} from '@sluice/kit/contract';
import type { Db, Tables } from '../tables/tables.ts';
import { readNow } from '../engine/engine.ts';
import type { Ledger } from '../live/effects.ts';
import { newId } from '../rows/ids.ts';
import type { InboxReads, InboxWrites } from './contract.ts';

const MAX_INBOXES = 100;
const KEPT_REQUESTS = 500;
const KEPT_BYTES = 16 * 1024 * 1024;

const summaryColumns = [
  'id',
  'inbox',
  'received_at',
  'webhook_id',
  'delivery',
  'verified',
  'status',
  'body_bytes',
] as const;

type SummaryRow = Pick<Selectable<Tables['inbox_request']>, (typeof summaryColumns)[number]>;

const toSummary = (row: SummaryRow): InboxRequestSummary => ({
  id: row.id,
  inbox: row.inbox,
  receivedAt: row.received_at,
  webhookId: row.webhook_id,
  delivery: row.delivery === null ? null : (JSON.parse(row.delivery) as InboxDelivery),
  verified: row.verified === 1,
  status: row.status,
  sizeBytes: row.body_bytes,
});

/** Returns whether the inbox exists, or may be created. */
async function isAllowed(db: Db, name: string): Promise<boolean> {
  const { rows } = await sql`
    select name from inbox where name = ${name}
    union all select ${name} where (select count(*) from inbox) < ${MAX_INBOXES}`.execute(db);
  return rows.length > 0;
}

async function readInboxes(db: Db, name?: string): Promise<Inbox[]> {
  const { rows } = await sql<{
    name: string;
    answer: string;
    received: number;
    stored: number;
    last_at: number | null;
  }>`
    select name, answer, received,
      (select count(*) from inbox_request where inbox = inbox.name) as stored,
      (select max(received_at) from inbox_request where inbox = inbox.name) as last_at
    from inbox ${name === undefined ? sql`` : sql`where name = ${name}`} order by name`.execute(db);
  return rows.map((row) => ({
    name: row.name,
    url: toInboxUrl(row.name),
    response: JSON.parse(row.answer) as InboxResponse,
    received: row.received,
    stored: row.stored,
    lastAt: row.last_at,
  }));
}

export const createInboxReads = (db: Kysely<Tables>): InboxReads => ({
  listInboxes: () => readInboxes(db),

  async listInboxRequests({ inbox, limit, after }) {
    let query = db.selectFrom('inbox_request').select(summaryColumns).where('inbox', '=', inbox);
    if (after !== undefined) query = query.where('id', '<', after);
    const rows = await query
      .orderBy('id', 'desc')
      .limit(limit + 1)
      .execute();
    const page = rows.slice(0, limit);
    return {
      rows: page.map(toSummary),
      next: rows.length > limit ? page.at(-1)?.id : undefined,
    };
  },

  async readInboxRequest(inbox, id) {
    const row = await db
      .selectFrom('inbox_request')
      .selectAll()
      .where('inbox', '=', inbox)
      .where('id', '=', id)
      .executeTakeFirst();
    return (
      row && {
        ...toSummary(row),
        headers: JSON.parse(row.headers) as Record<string, string>,
        body: row.body,
        answer: { body: row.answer_body, delayMs: row.answer_delay_ms },
      }
    );
  },
});

export const createInboxWrites = ({ db, engine, transact }: Ledger): InboxWrites => ({
  async setInbox(name, answer) {
    return db.transaction().execute(async (trx) => {
      if (!(await isAllowed(trx, name))) return undefined;
      const values = { answer: JSON.stringify(answer), received: 0 };
      await trx
        .insertInto('inbox')
        .values({ name, ...values })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
        .execute();
      return (await readInboxes(trx, name))[0];
    });
  },

  async deleteInbox(name) {
    return db.transaction().execute(async (trx) => {
      await trx.deleteFrom('inbox_request').where('inbox', '=', name).execute();
      const rows = await trx
        .deleteFrom('inbox')
        .where('name', '=', name)
        .returning('name')
        .execute();
      return rows.length > 0;
    });
  },

  async clearInbox(name) {
    await db.deleteFrom('inbox_request').where('inbox', '=', name).execute();
  },

  async receiveInInbox({ inbox, webhookId, delivery, headers, body, verified }) {
    return transact(async (trx, effects) => {
      if (!(await isAllowed(trx, inbox))) return undefined;
      const now = await readNow(engine, trx);
      const { answer: set, received } = await trx
        .insertInto('inbox')
        .values({ name: inbox, answer: JSON.stringify(DEFAULT_INBOX_RESPONSE), received: 1 })
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet((eb) => ({ received: eb('inbox.received', '+', 1) })),
        )
        .returning(['answer', 'received'])
        .executeTakeFirstOrThrow();
      const answer = JSON.parse(set) as InboxResponse;
      const row = {
        id: newId(now),
        inbox,
        received_at: now,
        webhook_id: webhookId,
        delivery: delivery === null ? null : JSON.stringify(delivery),
        verified: verified ? 1 : 0,
        status: statusOf(answer, received),
        headers: JSON.stringify(headers),
        body,
        body_bytes: Buffer.byteLength(body),
        answer_body: answer.body,
        answer_delay_ms: answer.delayMs,
      };
      await trx.insertInto('inbox_request').values(row).execute();
      // Deletes the newest row that exceeds a limit, and all older rows.
      await sql`
        delete from inbox_request where inbox = ${inbox} and id <= (
          select max(id) from (
            select id, row_number() over newest as n, sum(body_bytes) over newest as bytes
            from inbox_request where inbox = ${inbox} window newest as (order by id desc)) as held
          where n > ${KEPT_REQUESTS} or (n > 1 and bytes > ${KEPT_BYTES}))`.execute(trx);
      const request = toSummary(row);
      effects.publish({ type: 'inbox', request });
      return { request, answer };
    });
  },
});

function statusOf(
  { status, failFirst, failEvery, failStatus }: InboxResponse,
  received: number,
): number {
  const fails = received <= failFirst || (failEvery > 0 && received % failEvery === 0);
  return fails ? failStatus : status;
}
