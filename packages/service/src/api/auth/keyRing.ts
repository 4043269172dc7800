/**
 * Finds API keys. All keys are cached for two seconds, so requests with invalid keys cause few
 * reads of the ledger, and keys that another process revoked are soon rejected.
 */
import { configError } from '../../config/configError.ts';
import { timingSafeEqual } from 'node:crypto';
import { SCOPES, type Scope } from '@sluice/kit/contract';
import { type CidrList, createCidrList } from '../../base/cidr.ts';
import type { Log } from '../../base/log.ts';
import type { ApiKeyRecord } from '../../store/access/contract.ts';
import type { Store } from '../../store/store.ts';
import { createKey, hashKey, idOfKey } from './apiKey.ts';
import { createCachedRead } from './cachedRead.ts';

export interface KnownKey {
  readonly id: string;
  readonly hash: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Networks that may use the key; undefined if any address may. */
  readonly networks: CidrList | undefined;
  /** The networks in CIDR notation; empty if any address may use the key. */
  readonly cidrs: readonly string[];
  /** Unix milliseconds; null if the key never expires. */
  readonly expiresAt: number | null;
  /** Whether the key may be guessable, because the operator chose it. All other keys are random. */
  readonly isGuessable: boolean;
}

export interface KeyRing {
  /**
   * Returns the key with this text; undefined if the text is not a key, or the key was revoked or
   * has expired.
   */
  find(text: string): Promise<KnownKey | undefined>;
  findById(id: string): Promise<KnownKey | undefined>;
  /** Drops the cached keys, so that the next lookup reads them again. */
  forget(): void;
  /**
   * Records that a key was used, at most once per minute per key. Ignores the key in the settings.
   */
  recordUse(key: KnownKey): void;
}

/** Id of the key in the settings. The ledger does not store this key. */
const BOOTSTRAP = 'bootstrap';
const USE_NOTED_EVERY_MS = 60_000;

/**
 * Opens the key ring. A process that serves the API needs a key: without `bootstrapKey`, it creates
 * the first key of the ledger, if there is none, and returns it as `newApiKey`.
 *
 * @throws CallerError if such a process has no usable key.
 */
export async function openKeyRing({
  store,
  bootstrapKey,
  servesApi,
  log,
}: {
  store: Store;
  /** The key in the settings. */
  bootstrapKey: string | undefined;
  servesApi: boolean;
  log: Log;
}): Promise<{ keyRing: KeyRing; newApiKey: string | undefined }> {
  let newApiKey: string | undefined;
  if (servesApi && bootstrapKey === undefined) {
    const { id, key, hash } = createKey();
    const first = { id, hash, name: 'first key', scopes: [...SCOPES], cidrs: [], expiresAt: null };
    if ((await store.createFirstApiKey(first)) !== undefined) newApiKey = key;
    else if (!(await store.listApiKeys()).some(isGood)) {
      throw configError({
        setting: 'apiKey',
        problem:
          'every key in the ledger has expired or was revoked. Pass a key of your own, then create another with sluice keys create',
      });
    }
  }
  return { keyRing: createKeyRing({ store, bootstrapKey, log }), newApiKey };
}

function createKeyRing({
  store,
  bootstrapKey,
  log,
}: {
  store: Store;
  bootstrapKey: string | undefined;
  log: Log;
}): KeyRing {
  const bootstrap: KnownKey | undefined =
    bootstrapKey === undefined
      ? undefined
      : {
          id: BOOTSTRAP,
          hash: hashKey(bootstrapKey),
          scopes: new Set(SCOPES),
          networks: undefined,
          cidrs: [],
          expiresAt: null,
          isGuessable: true,
        };
  const notedAt = new Map<string, number>();
  const keys = createCachedRead(async () => {
    const records = await store.listApiKeys();
    return new Map(records.map((record) => [record.id, { record, known: toKnownKey(record) }]));
  });

  const findById = async (id: string): Promise<KnownKey | undefined> => {
    if (id === BOOTSTRAP) return bootstrap;
    const found = (await keys.read()).get(id);
    return found !== undefined && isGood(found.record) ? found.known : undefined;
  };

  return {
    findById,
    async find(text) {
      const hash = hashKey(text);
      if (bootstrap !== undefined && timingSafeEquals(hash, bootstrap.hash)) return bootstrap;
      const id = idOfKey(text);
      const known = id === undefined ? undefined : await findById(id);
      return known !== undefined && timingSafeEquals(hash, known.hash) ? known : undefined;
    },
    forget: keys.forget,
    recordUse({ id }) {
      const now = performance.now();
      if (id === BOOTSTRAP || now - (notedAt.get(id) ?? -Infinity) < USE_NOTED_EVERY_MS) return;
      notedAt.set(id, now);
      store.recordApiKeyUse([id]).catch((error: unknown) => {
        log.warn('failed to record the use of a key', { error: String(error) });
      });
    },
  };
}

const toKnownKey = (record: ApiKeyRecord): KnownKey => ({
  id: record.id,
  hash: record.hash,
  scopes: new Set(record.scopes),
  cidrs: record.cidrs,
  expiresAt: record.expiresAt,
  networks: record.cidrs.length === 0 ? undefined : createCidrList(record.cidrs),
  isGuessable: false,
});

const isGood = ({ revokedAt, expiresAt }: ApiKeyRecord): boolean =>
  revokedAt === null && (expiresAt === null || expiresAt > Date.now());

/**
 * Returns whether two strings are equal, in constant time for strings of equal length, such as
 * hashes.
 */
export function timingSafeEquals(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
