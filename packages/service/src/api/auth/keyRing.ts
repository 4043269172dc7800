/**
 * The valid API keys. All of them are cached and refreshed, so requests without a valid key never
 * reach the ledger, and keys that another process revoked are soon rejected.
 */
import { configError } from '../../base/errors.ts';
import { timingSafeEqual } from 'node:crypto';
import { SCOPES, type Scope } from '@sluice/kit/contract';
import { type CidrList, createCidrList } from '../../base/cidr.ts';
import type { Log } from '../../base/log.ts';
import type { ApiKeyRecord } from '../../store/access/contract.ts';
import type { Store } from '../../store/store.ts';
import { createKey, hashKey, idOfKey } from './apiKey.ts';
import { createFresh } from './fresh.ts';

export interface KnownKey {
  readonly id: string;
  readonly hash: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Undefined if the key is allowed from anywhere. */
  readonly networks: CidrList | undefined;
  /** The networks as strings. */
  readonly cidrs: readonly string[];
  /** Unix milliseconds; null: never. */
  readonly expiresAt: number | null;
  /** Whether the operator chose the key. All other keys are random. */
  readonly isGuessable: boolean;
}

export interface KeyRing {
  /** Returns the matching key; undefined if it is invalid or expired. */
  find(text: string): Promise<KnownKey | undefined>;
  findById(id: string): Promise<KnownKey | undefined>;
  /** Reloads the keys before the next lookup. */
  forget(): void;
  /** Records, to the minute, that a key is in use. */
  recordUse(key: KnownKey): void;
}

/** Id of the key that was passed with `--api-key`, which the ledger does not store. */
const BOOTSTRAP = 'bootstrap';
const USE_NOTED_EVERY_MS = 60_000;

/**
 * Opens the key ring. Creates the first key if none was given and the ledger never had one.
 * @throws CallerError when there is no usable key.
 */
export async function openKeyRing({
  store,
  bootstrapKey,
  log,
}: {
  store: Store;
  /** The value of `--api-key`. */
  bootstrapKey: string | undefined;
  log: Log;
}): Promise<{ keyRing: KeyRing; newApiKey: string | undefined }> {
  let newApiKey: string | undefined;
  if (bootstrapKey === undefined) {
    const { id, key, hash } = createKey();
    const first = { id, hash, name: 'first key', scopes: [...SCOPES], cidrs: [], expiresAt: null };
    if ((await store.createFirstApiKey(first)) !== undefined) newApiKey = key;
    else if (!(await store.listApiKeys()).some(isGood)) {
      throw configError(
        '--api-key: every key in the ledger has expired or was revoked: pass a key of your own, then create another with sluice keys create',
      );
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
  const keys = createFresh(async () => {
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
      if (bootstrap !== undefined && isSame(hash, bootstrap.hash)) return bootstrap;
      const id = idOfKey(text);
      const known = id === undefined ? undefined : await findById(id);
      return known !== undefined && isSame(hash, known.hash) ? known : undefined;
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

/** Compares strings of equal length, such as hashes, in constant time. */
export function isSame(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
