/** Keys, the secrets of streams, and the audit log. */
import type { Context } from 'hono';
import {
  type ApiKey,
  type AuditPage,
  type CreatedApiKey,
  createApiKeySchema,
  listQuerySchema,
  rotateStreamSecretSchema,
} from '@sluice/kit/contract';
import type { ApiKeyRecord, Store } from '../../store/store.ts';
import type { StreamSecrets } from '../../streamSecrets.ts';
import {
  HttpError,
  check,
  notFound,
  readId,
  setAuditTarget,
  validationFailed,
} from '../answers.ts';
import { takeQuery } from '../query.ts';
import { createKey, isKeyId } from '../apiKey.ts';
import { callerOf } from '../auth.ts';
import { readJson } from '../body.ts';
import { boundKey } from '../keyBounds.ts';
import type { KeyRing } from '../keyRing.ts';
import { fromCursor, toCursor } from '../pages.ts';

export interface AccessHandlers {
  listKeys(context: Context): Promise<Response>;
  createKey(context: Context): Promise<Response>;
  revokeKey(context: Context): Promise<Response>;
  getSecret(context: Context): Promise<Response>;
  rotateSecret(context: Context): Promise<Response>;
  listAudit(context: Context): Promise<Response>;
}

export interface AccessHandlerNeeds {
  store: Store;
  keyRing: KeyRing;
  streamSecrets: StreamSecrets;
  /** Whether a secret is told to who makes it alone. */
  hidesSecrets: boolean;
}

const DEFAULT_OVERLAP_SECONDS = 24 * 3_600;

export function createAccessHandlers({
  store,
  keyRing,
  streamSecrets,
  hidesSecrets,
}: AccessHandlerNeeds): AccessHandlers {
  return {
    async listKeys(context) {
      return context.json({ result: (await store.listApiKeys()).map(toApiKey) });
    },

    async createKey(context) {
      const body = check(createApiKeySchema, 'requestBody', readJson(context));
      const { keyId } = callerOf(context);
      const maker = await keyRing.findById(keyId);
      if (maker === undefined) throw new HttpError(401, 'This API key has ended');
      const bounds = boundKey(body, maker);
      const { expiresAt } = bounds;
      if (expiresAt !== null && expiresAt <= (await store.readLedgerTime())) {
        const message = 'should be a time to come, in Unix milliseconds';
        throw validationFailed('requestBody', [{ path: ['expiresAt'], message }], body);
      }
      const { id, key, hash } = createKey();
      const record = await store.createApiKey({ id, name: body.name, hash, ...bounds });
      keyRing.forget();
      setAuditTarget(context, id);
      return context.json({ ...toApiKey(record), key } satisfies CreatedApiKey);
    },

    async revokeKey(context) {
      const id = context.req.param('keyId') ?? '';
      const record = isKeyId(id) ? await store.revokeApiKey(id) : undefined;
      if (record === undefined) throw notFound('API key');
      keyRing.forget();
      return context.json(toApiKey(record));
    },

    async getSecret(context) {
      if (hidesSecrets) {
        throw new HttpError(
          403,
          'This service tells no secrets (--hide-secrets): make a new one, which is told once',
        );
      }
      const secret = await streamSecrets.read(readId(context, 'stream'));
      if (secret === undefined) throw notFound('Stream');
      return context.json(secret);
    },

    async rotateSecret(context) {
      const { overlapSeconds = DEFAULT_OVERLAP_SECONDS } = check(
        rotateStreamSecretSchema,
        'requestBody',
        readJson(context),
      );
      const id = readId(context, 'stream');
      const { keyId } = callerOf(context);
      const overlapMs = overlapSeconds * 1_000;
      const secret = await streamSecrets.rotate(id, { overlapMs, keyId });
      if (secret === undefined) throw notFound('Stream');
      return context.json(hidesSecrets ? { ...secret, previous: [] } : secret);
    },

    async listAudit(context) {
      const { limit, cursor } = takeQuery(context, listQuerySchema).query;
      const { rows, next } = await store.listAudit({ limit, before: fromCursor(cursor)?.at });
      return context.json({
        result: rows,
        ...(next !== undefined && { cursor: toCursor({ at: next, id: 'audit' }) }),
      } satisfies AuditPage);
    },
  };
}

const toApiKey = ({ hash: _hash, ...key }: ApiKeyRecord): ApiKey => key;
