/** Opens the vault with the configured master keys. */
import { mkdirSync } from 'node:fs';
import type { Log } from '../base/log.ts';
import type { Store } from '../store/store.ts';
import { resealAddedUrls } from './addedUrls.ts';
import { resealKeyPairs } from './keyPairs.ts';
import { resealEndpoints } from './endpoints.ts';
import { resealSettings } from './settings.ts';
import { resealStreamSecrets } from './streamSecrets.ts';
import { type MasterKeySettings, type Vault, createVault, readMasterKeys } from './vault.ts';

/**
 * Opens the vault, and re-encrypts secrets that an older master key encrypted.
 * @throws CallerError if no master key can be read, or the ledger uses a different one
 */
export async function openVault(
  store: Store,
  settings: MasterKeySettings,
  log: Log,
): Promise<Vault> {
  mkdirSync(settings.data, { recursive: true, mode: 0o700 });
  const { keys, madeIn } = readMasterKeys(settings);
  const vault = createVault(keys);
  const resealed =
    Number(await resealSettings(store, vault)) +
    (await resealStreamSecrets(store, vault)) +
    (await resealEndpoints(store, vault)) +
    (await resealAddedUrls(store, vault)) +
    (await resealKeyPairs(store, vault));
  if (resealed > 0) log.info('re-encrypted secrets with the new master key', { count: resealed });
  if (madeIn !== undefined && store.isShared) {
    log.warn('created a master key: every process of this ledger needs it', { file: madeIn });
  }
  return vault;
}
