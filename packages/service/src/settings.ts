/** What the account may change while the service runs: the secret of webhooks, and their region. */
import { randomBytes } from 'node:crypto';
import type { Region, Settings } from '@sluice/kit/contract';
import type { Store } from './store/store.ts';
import type { Vault } from './vault.ts';

export interface AccountSettings {
  read(): { region: Region; secretKey: string };
  /** Whether the secret was given at the start: then it is not for the account to change. */
  readonly hasFixedSecret: boolean;
  /** Keeps what is given, and sends by it from now on. */
  save(changes: Settings): Promise<void>;
}

/** A self-hosted service has one place; the name is the user's to choose. */
const DEFAULT_REGION: Region = 'us-east-1';

/** Name of the setting, and what its value is sealed for. */
const SECRET = 'streamsSecret';

/** Seals the streams secret anew where an older master key sealed it; answers with whether one did. */
export async function resealSettings(store: Store, vault: Vault): Promise<boolean> {
  const sealed = await store.readSetting(SECRET);
  if (sealed === undefined || !vault.isOld(sealed)) return false;
  await store.saveSetting(SECRET, vault.seal(vault.open(sealed, SECRET), SECRET));
  return true;
}

/** Reads the settings; a secret that was neither given nor stored is made and stored. */
export async function openSettings(
  store: Store,
  vault: Vault,
  givenSecret: string | undefined,
): Promise<AccountSettings> {
  const region = ((await store.readSetting('region')) as Region | undefined) ?? DEFAULT_REGION;
  const stored = await store.readSetting(SECRET);
  let secretKey = givenSecret ?? (stored && vault.open(stored, SECRET));
  if (secretKey === undefined) {
    secretKey = randomBytes(32).toString('hex');
    await store.saveSetting(SECRET, vault.seal(secretKey, SECRET));
  }
  let current = { region, secretKey };
  return {
    read: () => current,
    hasFixedSecret: givenSecret !== undefined,
    async save({ region = current.region, secretKey = current.secretKey }) {
      if (region !== current.region) await store.saveSetting('region', region);
      if (secretKey !== current.secretKey) {
        await store.saveSetting(SECRET, vault.seal(secretKey, SECRET));
      }
      current = { region, secretKey };
    },
  };
}
