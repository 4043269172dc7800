/** Sets up authentication: API keys, console sessions and rate limits. */
import type { Config } from '../../config/config.ts';
import { type Log, describeError } from '../../base/log.ts';
import type { Vault } from '../../secrets/vault.ts';
import type { Store } from '../../store/store.ts';
import { type Auth, createAuth } from './auth.ts';
import { isLoopback } from '../../base/hostNames.ts';
import { type KeyRing, openKeyRing } from './keyRing.ts';
import { createPeerReader } from './peer.ts';
import { createRateLimits } from './rateLimits.ts';
import { createSessions } from './sessions.ts';

/** @throws CallerError if this process serves the API and there is no usable key. */
export async function openAuth(
  config: Pick<Config, 'apiKey' | 'host' | 'rateLimit' | 'roles' | 'trustProxy'>,
  { store, vault, log }: { store: Store; vault: Vault; log: Log },
): Promise<{
  auth: Auth;
  keyRing: KeyRing;
  /** The generated API key; undefined if a key was passed or the ledger already had one. */
  newApiKey: string | undefined;
}> {
  const { keyRing, newApiKey } = await openKeyRing({
    store,
    bootstrapKey: config.apiKey,
    servesApi: config.roles.includes('api'),
    log,
  });
  const recordFailures = (address: string): void => {
    log.warn('too many invalid API keys', { address });
    store
      .appendAudit({ action: 'authFailures', keyId: '', sessionName: '', address, target: '' })
      .catch((error: unknown) => {
        log.error('failed to write the audit log', { error: describeError(error) });
      });
  };
  const auth = createAuth({
    keyRing,
    sessions: createSessions(vault.derive('console sessions'), keyRing, store),
    readPeer: createPeerReader(config.trustProxy),
    limits: createRateLimits({
      callsPerSecond: config.rateLimit,
      onFailures: recordFailures,
    }),
    mayListenInPlain: isLoopback(config.host),
  });
  return { auth, keyRing, newApiKey };
}
