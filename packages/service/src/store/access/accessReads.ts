import type { Kysely, Selectable } from 'kysely';
import type { AuditRecord, Scope } from '@sluice/kit/contract';
import { type Engine, readNow } from '../engine/engine.ts';
import type { AccessReads, ApiKeyRecord } from './contract.ts';
import type { SealedSecret } from '../tables/streams.ts';
import type { Tables } from '../tables/tables.ts';

const STREAMS_PER_PAGE = 500;

export const createAccessReads = (db: Kysely<Tables>, engine: Engine): AccessReads => ({
  async listApiKeys() {
    const rows = await db
      .selectFrom('api_key')
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .execute();
    return rows.map(toApiKeyRecord);
  },

  async listEndedSessions() {
    const rows = await db.selectFrom('ended_session').select('id').execute();
    return rows.map(({ id }) => id);
  },

  async listAudit({ limit, before }) {
    let query = db.selectFrom('audit').selectAll();
    if (before !== undefined) query = query.where('seq', '<', before);
    const rows = await query
      .orderBy('seq', 'desc')
      .limit(limit + 1)
      .execute();
    const page = rows.slice(0, limit);
    return {
      rows: page.map(toAuditRecord),
      next: rows.length > limit ? page.at(-1)?.seq : undefined,
    };
  },

  async readStreamSecrets(streamId) {
    const row = await db
      .selectFrom('stream')
      .select('secrets')
      .where('id', '=', streamId)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
    return row && (JSON.parse(row.secrets) as SealedSecret[]);
  },

  async listStreamSecrets(after = '') {
    const rows = await db
      .selectFrom('stream')
      .select(['id', 'secrets'])
      .where('id', '>', after)
      .where('destination_of', 'is', null)
      .where('deleted_at', 'is', null)
      .orderBy('id')
      .limit(STREAMS_PER_PAGE)
      .execute();
    return {
      rows: rows.map((row) => ({
        streamId: row.id,
        secrets: JSON.parse(row.secrets) as SealedSecret[],
      })),
      next: rows.length === STREAMS_PER_PAGE ? rows.at(-1)?.id : undefined,
    };
  },

  readLedgerTime: () => readNow(engine, db),
});

export const toApiKeyRecord = (row: Selectable<Tables['api_key']>): ApiKeyRecord => ({
  id: row.id,
  name: row.name,
  hash: row.hash,
  scopes: JSON.parse(row.scopes) as Scope[],
  cidrs: JSON.parse(row.cidrs) as string[],
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  lastUsedAt: row.last_used_at,
  revokedAt: row.revoked_at,
});

const toAuditRecord = ({
  key_id: keyId,
  session_name: sessionName,
  previous_hash: previousHash,
  ...row
}: Selectable<Tables['audit']>): AuditRecord => ({ ...row, keyId, sessionName, previousHash });
