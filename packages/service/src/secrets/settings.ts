/**
 * Settings that the account may change while the service runs: the webhook secret and the region.
 */
import { randomBytes } from 'node:crypto';
import type { Region, Settings } from '@sluice/kit/contract';
import type { Store } from '../store/store.ts';
import { watchSettings } from './settingsWatch.ts';
import type { Vault } from './vault.ts';

export interface AccountSettings {
  read(): { region: Region; secretKey: string };
  /** Whether the secret was set at startup. If so, the account cannot change it. */
  readonly hasFixedSecret: boolean;
  /** Stores and applies the changes. */
  save(changes: Settings): Promise<void>;
  stop(): void;
}

/** A self-hosted service has a single location with an arbitrary name. */
const DEFAULT_REGION: Region = 'us-east-1';

/** Name of the setting with the webhook secret, and purpose of its encryption. */
const SECRET = 'streamsSecret';

/** Re-encrypts the webhook secret if an older master key encrypted it; returns whether it did. */
export async function resealSettings(store: Store, vault: Vault): Promise<boolean> {
  const sealed = await store.readSetting(SECRET);
  if (sealed === undefined || !vault.isOld(sealed)) return false;
  await store.saveSetting(SECRET, vault.seal(vault.open(sealed, SECRET), SECRET));
  return true;
}

/** Reads the settings; generates and stores a secret if none was given or stored. */
export async function openSettings(
  store: Pick<Store, 'readSetting' | 'saveSetting' | 'keepSetting' | 'signals'>,
  vault: Vault,
  givenSecret: string | undefined,
): Promise<AccountSettings> {
  const readSecret = async (): Promise<string> => {
    const fresh = () => vault.seal(randomBytes(32).toString('hex'), SECRET);
    // If several processes start together, they all use the secret that is stored first.
    const stored = (await store.readSetting(SECRET)) ?? (await store.keepSetting(SECRET, fresh()));
    return vault.open(stored, SECRET);
  };
  const readAll = async (): Promise<{ region: Region; secretKey: string }> => ({
    region: ((await store.readSetting('region')) as Region | undefined) ?? DEFAULT_REGION,
    secretKey: givenSecret ?? (await readSecret()),
  });
  let current = await readAll();
  let saves = 0;

  // Keeps the last values while the ledger is unavailable.
  const stop = watchSettings(store, async () => {
    const savesBefore = saves;
    const read = await readAll();
    if (saves === savesBefore) current = read;
  });

  return {
    read: () => current,
    hasFixedSecret: givenSecret !== undefined,
    async save({ region = current.region, secretKey = current.secretKey }) {
      const before = current;
      if (region !== before.region) await store.saveSetting('region', region);
      if (secretKey !== before.secretKey) {
        await store.saveSetting(SECRET, vault.seal(secretKey, SECRET));
      }
      saves++;
      current = { region, secretKey };
    },
    stop,
  };
}
