/** What the account may change while the service runs: the secret of webhooks, and their region. */
import { randomBytes } from 'node:crypto';
import type { Region, Settings } from '@sluice/kit/contract';
import type { Store } from './store/store.ts';

export interface AccountSettings {
  read(): { region: Region; secretKey: string };
  /** Whether the secret was given at the start: then it is not for the account to change. */
  readonly hasFixedSecret: boolean;
  /** Keeps what is given, and sends by it from now on. */
  save(changes: Settings): Promise<void>;
}

/** A self-hosted service has one place; the name is the user's to choose. */
const DEFAULT_REGION: Region = 'us-east-1';

/** Reads the settings; a secret that was neither given nor stored is made and stored. */
export async function openSettings(
  store: Store,
  givenSecret: string | undefined,
): Promise<AccountSettings> {
  const region = ((await store.readSetting('region')) as Region | undefined) ?? DEFAULT_REGION;
  let secretKey = givenSecret ?? (await store.readSetting('streamsSecret'));
  if (secretKey === undefined) {
    secretKey = randomBytes(32).toString('hex');
    await store.saveSetting('streamsSecret', secretKey);
  }
  let current = { region, secretKey };
  return {
    read: () => current,
    hasFixedSecret: givenSecret !== undefined,
    async save({ region = current.region, secretKey = current.secretKey }) {
      if (region !== current.region) await store.saveSetting('region', region);
      if (secretKey !== current.secretKey) await store.saveSetting('streamsSecret', secretKey);
      current = { region, secretKey };
    },
  };
}
