/**
 * The Ed25519 key pairs whose private keys sign all webhooks. The ledger stores the private keys
 * encrypted. There are none until one is created, because a signature adds 40 µs of processor time to
 * a delivery, which takes about 100 µs.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { PublicKey } from '@sluice/kit/contract';
import type { Log } from '../base/log.ts';
import { describeError } from '../base/log.ts';
import type { Store } from '../store/store.ts';
import { watchSettings } from './settingsWatch.ts';
import type { Vault } from './vault.ts';

export interface KeyPairs {
  /**
   * Returns the private keys that sign at this time by the ledger's clock, newest first, each as
   * `whsk_` and base64 of the seed and the public key.
   */
  privateKeys(at: number): readonly string[];
  /** Returns the public keys whose private keys still sign, newest first. */
  list(): Promise<PublicKey[]>;
  /**
   * Creates a key pair and returns its public key. Existing key pairs sign for at most another
   * `overlapMs`.
   */
  create(overlapMs: number): Promise<PublicKey>;
  /** Removes a key pair and stops signing with it; returns false if the id is unknown. */
  remove(id: string): Promise<boolean>;
  stop(): void;
}

/** A key pair as the ledger stores it. */
interface StoredPair extends PublicKey {
  /** The private key, encrypted by `vault.ts`. */
  sealed: string;
}

/** Name of the setting with all key pairs, newest first, as JSON. */
const KEY_PAIRS = 'keyPairs';
/** Maximum number of key pairs. Creating another one removes the oldest. */
const MAX_KEY_PAIRS = 5;
/** Maximum number of attempts at a change. An attempt fails only if another change came first. */
const MAX_ATTEMPTS = 100;

const purposeOf = (id: string): string => `key pair ${id}`;

const parse = (text = '[]'): StoredPair[] => JSON.parse(text) as StoredPair[];

const signsAt =
  (at: number) =>
  ({ endsAt }: Pick<PublicKey, 'endsAt'>): boolean =>
    endsAt === null || endsAt > at;

const toPublicKey = ({ id, publicKey, createdAt, endsAt }: PublicKey): PublicKey => ({
  id,
  publicKey,
  createdAt,
  endsAt,
});

/** Re-encrypts private keys that an older master key encrypted, and returns their number. */
export async function resealKeyPairs(
  store: Pick<Store, 'readSetting' | 'replaceSetting'>,
  vault: Vault,
): Promise<number> {
  const text = await store.readSetting(KEY_PAIRS);
  const pairs = parse(text);
  const old = pairs.filter(({ sealed }) => vault.isOld(sealed));
  if (old.length === 0) return 0;
  const again = pairs.map((pair) => {
    const purpose = purposeOf(pair.id);
    return { ...pair, sealed: vault.seal(vault.open(pair.sealed, purpose), purpose) };
  });
  // `replaceSetting` returns false if the key pairs changed meanwhile; the next start then
  // re-encrypts them.
  return (await store.replaceSetting(KEY_PAIRS, text, JSON.stringify(again))) ? old.length : 0;
}

export async function openKeyPairs(
  store: Pick<Store, 'readSetting' | 'replaceSetting' | 'readLedgerTime' | 'signals'>,
  vault: Vault,
  log: Log,
): Promise<KeyPairs> {
  let text: string | undefined;
  let current: readonly { privateKey: string; endsAt: number | null }[] = [];
  let reads = 0;
  let latest = 0;
  const look = async (): Promise<void> => {
    const read = ++reads;
    const next = await store.readSetting(KEY_PAIRS);
    // A read that began later was already applied.
    if (read < latest) return;
    latest = read;
    if (next === text) return;
    current = parse(next).map(({ id, sealed, endsAt }) => ({
      privateKey: vault.open(sealed, purposeOf(id)),
      endsAt,
    }));
    text = next;
  };
  await look();
  // The last key pairs remain in use while the ledger is unreachable.
  const stop = watchSettings(store, look, (error) => {
    log.warn('failed to read the key pairs, retrying', { error: describeError(error) });
  });

  /**
   * Applies `change` and returns the new key pairs; retries if another change came first. Returns
   * undefined if `change` does.
   */
  const replace = async (
    change: (pairs: StoredPair[], now: number) => StoredPair[] | undefined,
  ): Promise<StoredPair[] | undefined> => {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const before = await store.readSetting(KEY_PAIRS);
      const now = await store.readLedgerTime();
      const after = change(parse(before).filter(signsAt(now)), now);
      if (after === undefined) return undefined;
      if (!(await store.replaceSetting(KEY_PAIRS, before, JSON.stringify(after)))) continue;
      await look();
      return after;
    }
    throw new Error(`the key pairs changed during each of ${MAX_ATTEMPTS} attempts to change them`);
  };

  return {
    privateKeys: (at) => current.filter(signsAt(at)).map(({ privateKey }) => privateKey),
    async list() {
      const pairs = parse(await store.readSetting(KEY_PAIRS));
      return pairs.filter(signsAt(await store.readLedgerTime())).map(toPublicKey);
    },
    async create(overlapMs) {
      const { publicKey, privateKey } = generate();
      const id = randomUUID();
      const sealed = vault.seal(privateKey, purposeOf(id));
      const [created] = (await replace((pairs, now) => {
        const older = pairs.map((pair) => ({
          ...pair,
          endsAt: Math.min(pair.endsAt ?? Infinity, now + overlapMs),
        }));
        return [
          { id, publicKey, createdAt: now, endsAt: null, sealed },
          ...older.filter(signsAt(now)),
        ].slice(0, MAX_KEY_PAIRS);
      }))!;
      return toPublicKey(created!);
    },
    async remove(id) {
      const after = await replace((pairs) => {
        const kept = pairs.filter((pair) => pair.id !== id);
        return kept.length === pairs.length ? undefined : kept;
      });
      return after !== undefined;
    },
    stop,
  };
}

function generate(): { publicKey: string; privateKey: string } {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const seed = Buffer.from(d, 'base64url');
  const publicKey = Buffer.from(x, 'base64url');
  return {
    publicKey: `whpk_${publicKey.toString('base64')}`,
    privateKey: `whsk_${Buffer.concat([seed, publicKey]).toString('base64')}`,
  };
}
