/** Calls for keys, the secrets of streams, key pairs, and the audit log. */
import type { ApiKey } from '@sluice/kit/contract';
import type { KeyPairs } from '../../../secrets/keyPairs.ts';
import type { StreamSecrets } from '../../../secrets/streamSecrets.ts';
import type { ApiKeyRecord } from '../../../store/access/contract.ts';
import type { Store } from '../../../store/store.ts';
import { HttpError, notFound, setAuditTarget, validationFailed } from '../../httpErrors.ts';
import { createKey, isKeyId } from '../../auth/apiKey.ts';
import { callerOf } from '../../auth/auth.ts';
import { boundKey } from '../../auth/keyBounds.ts';
import type { KeyRing } from '../../auth/keyRing.ts';
import type { Handlers } from '../../handlers.ts';
import { fromCursor, toCursor } from '../../pages.ts';
import { flagOf } from '../../../config/settings.ts';

export interface AccessHandlerNeeds {
  store: Store;
  keyRing: KeyRing;
  streamSecrets: StreamSecrets;
  keyPairs: Pick<KeyPairs, 'list' | 'create' | 'remove'>;
  /** Whether a stream's secret is returned only once, by the call that rotates it. */
  hidesSecrets: boolean;
}

const DEFAULT_OVERLAP_SECONDS = 24 * 3_600;

export function createAccessHandlers({
  store,
  keyRing,
  streamSecrets,
  keyPairs,
  hidesSecrets,
}: AccessHandlerNeeds) {
  return {
    listApiKeys: async () => ({ result: (await store.listApiKeys()).map(toApiKey) }),

    async createApiKey({ context, body }) {
      const { keyId } = callerOf(context);
      const creator = await keyRing.findById(keyId);
      if (creator === undefined)
        throw new HttpError(401, 'This API key has expired or was revoked');
      const bounds = boundKey(body, creator);
      const { expiresAt } = bounds;
      if (expiresAt !== null && expiresAt <= (await store.readLedgerTime())) {
        const message = 'should be in the future, in Unix milliseconds';
        throw validationFailed('requestBody', [{ path: ['expiresAt'], message }], body);
      }
      const { id, key, hash } = createKey();
      const record = await store.createApiKey({ id, name: body.name, hash, ...bounds });
      keyRing.forget();
      setAuditTarget(context, id);
      return { ...toApiKey(record), key };
    },

    async revokeApiKey({ params: { keyId } }) {
      const record = isKeyId(keyId) ? await store.revokeApiKey(keyId) : undefined;
      if (record === undefined) throw notFound('API key');
      keyRing.forget();
      return toApiKey(record);
    },

    async getStreamSecret({ params: { id } }) {
      if (hidesSecrets) {
        throw new HttpError(
          403,
          `This service never returns existing secrets (${flagOf('hideSecrets')}). Rotate the secret to get a new one, which is returned once`,
        );
      }
      const secret = await streamSecrets.read(id);
      if (secret === undefined) throw notFound('Stream');
      return secret;
    },

    async rotateStreamSecret({ context, params: { id }, body }) {
      const { overlapSeconds = DEFAULT_OVERLAP_SECONDS } = body;
      const { keyId } = callerOf(context);
      const overlapMs = overlapSeconds * 1_000;
      const secret = await streamSecrets.rotate(id, { overlapMs, keyId });
      if (secret === undefined) throw notFound('Stream');
      return hidesSecrets ? { ...secret, previous: [] } : secret;
    },

    async getStreamSecretTimes({ params: { id } }) {
      const times = await streamSecrets.readTimes(id);
      if (times === undefined) throw notFound('Stream');
      return times;
    },

    async endStreamSecretOverlap({ context, params: { id } }) {
      const times = await streamSecrets.endOverlap(id, callerOf(context).keyId);
      if (times === undefined) throw notFound('Stream');
      return times;
    },

    listPublicKeys: async () => ({ result: await keyPairs.list() }),

    async createPublicKey({ context, body: { overlapSeconds = DEFAULT_OVERLAP_SECONDS } }) {
      const created = await keyPairs.create(overlapSeconds * 1_000);
      setAuditTarget(context, created.id);
      return created;
    },

    async removePublicKey({ params: { publicKeyId } }) {
      if (!(await keyPairs.remove(publicKeyId))) throw notFound('Public key');
      return undefined;
    },

    async listAudit({ query: { limit, cursor } }) {
      const { rows, next } = await store.listAudit({ limit, before: fromCursor(cursor)?.at });
      return {
        result: rows,
        ...(next !== undefined && { cursor: toCursor({ at: next, id: 'audit' }) }),
      };
    },
  } satisfies Partial<Handlers>;
}

const toApiKey = ({ hash: _hash, ...key }: ApiKeyRecord): ApiKey => key;
