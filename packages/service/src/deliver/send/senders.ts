/**
 * Creates the senders of webhooks, test webhooks and alerts, with their address checks and the rate
 * limit per host.
 */
import type { Config } from '../../config/config.ts';
import type { KeyPairs } from '../../secrets/keyPairs.ts';
import type { AccountSettings } from '../../secrets/settings.ts';
import type { Store } from '../../store/store.ts';
import type { ClientCertificate } from '../destinations/http/clientCertificate.ts';
import { createHostPace } from '../hostPace.ts';
import { type ReadChainAndPhase, createInbox } from '../destinations/inbox/inbox.ts';
import {
  type AddressGuardOptions,
  ALL_NETWORKS,
  METADATA_NETWORKS,
  createAddressGuard,
} from '../destinations/http/guard.ts';
import { createIsolation } from './isolation.ts';
import { createSender } from './send.ts';

export type Senders = ReturnType<typeof createSenders>;

export function createSenders(
  config: Pick<
    Config,
    | 'allowCidrs'
    | 'allowPrivateEndpoints'
    | 'egressProxy'
    | 'httpsOnly'
    | 'maxPerHost'
    | 'maxTimeoutSeconds'
  >,
  {
    store,
    settings,
    keyPairs,
    clientCertificate,
    onBlocked,
    readChainAndPhase,
  }: {
    store: Store;
    settings: Pick<AccountSettings, 'read'>;
    keyPairs: Pick<KeyPairs, 'privateKeys'>;
    clientCertificate: ClientCertificate | undefined;
    onBlocked: NonNullable<AddressGuardOptions['onBlocked']>;
    readChainAndPhase: ReadChainAndPhase;
  },
) {
  const { egressProxy, httpsOnly } = config;
  const allowCidrs = config.allowPrivateEndpoints ? ALL_NETWORKS : config.allowCidrs;
  const guard = createAddressGuard({ allowCidrs, httpsOnly, onBlocked });
  const common = {
    secret: () => settings.read().secretKey,
    region: () => settings.read().region,
    privateKeys: keyPairs.privateKeys,
    clientCertificate,
  };
  const inbox = createInbox({ store, secret: common.secret, readChainAndPhase });
  const outgoing = { egressProxy, maxTimeoutMs: config.maxTimeoutSeconds * 1_000 };
  const createWebhookSender = () => createSender({ guard, inbox, ...outgoing, ...common });
  return {
    guard,
    /** Guard for the addresses of nodes that were added while the service ran. */
    nodeGuard: createAddressGuard({ allowCidrs, denyCidrs: METADATA_NETWORKS, onBlocked }),
    hostPace: createHostPace(config.maxPerHost),
    sender: createWebhookSender(),
    createIsolation: () => createIsolation({ allowCidrs, httpsOnly, ...outgoing, ...common }),
    /**
     * @param isAdded whether the URL was added while the service ran; if not, it was configured by
     * the operator and may be private
     */
    createAlertSender: (isAdded: boolean) =>
      isAdded
        ? createWebhookSender()
        : createSender({ guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }), ...common }),
  };
}
