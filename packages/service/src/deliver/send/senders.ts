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
import { createFeed } from '../destinations/feed/feed.ts';
import { type ReadChainAndPhase, createInbox } from '../destinations/inbox/inbox.ts';
import {
  type AddressGuardOptions,
  ALL_NETWORKS,
  METADATA_NETWORKS,
  createAddressGuard,
} from '../destinations/http/guard.ts';
import { createHttp } from '../destinations/http/http.ts';
import { createKafka } from '../destinations/kafka/kafka.ts';
import { createNats } from '../destinations/nats/nats.ts';
import { createRabbitMq } from '../destinations/rabbitMq/rabbitMq.ts';
import { createPostgres } from '../destinations/postgres/postgres.ts';
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
  const signing = {
    secret: () => settings.read().secretKey,
    region: () => settings.read().region,
    privateKeys: keyPairs.privateKeys,
  };
  const maxTimeoutMs = config.maxTimeoutSeconds * 1_000;
  const queues = { guard, clientCertificate, egressProxy, readChainAndPhase };
  const createGuarded = () => createHttp({ guard, clientCertificate, egressProxy });
  const createOwnInbox = () => createInbox({ store, secret: signing.secret, readChainAndPhase });
  const sender = createSender({
    destinations: [
      createOwnInbox(),
      createFeed(),
      createNats(queues),
      createRabbitMq(queues),
      createKafka(queues),
      createPostgres({ guard, egressProxy, httpsOnly }),
      createGuarded(),
    ],
    maxTimeoutMs,
    ...signing,
  });
  return {
    guard,
    /** Guard for the addresses of nodes that were added while the service ran. */
    nodeGuard: createAddressGuard({ allowCidrs, denyCidrs: METADATA_NETWORKS, onBlocked }),
    hostPace: createHostPace(config.maxPerHost, (url) => sender.destinationOf(url).hostOf(url)),
    sender,
    /** Creates a sender to inboxes and HTTP URLs that signs with this secret and no other. */
    createTestSender: (secret: string) =>
      createSender({
        destinations: [createOwnInbox(), createGuarded()],
        maxTimeoutMs,
        secret: () => secret,
        region: signing.region,
      }),
    createIsolation: () =>
      createIsolation({
        allowCidrs,
        httpsOnly,
        egressProxy,
        clientCertificate,
        maxTimeoutMs,
        ...signing,
      }),
    /**
     * @param isAdded whether the URL was added while the service ran; if not, it was configured by
     * the operator and may be private
     */
    createAlertSender: (isAdded: boolean) =>
      isAdded
        ? createSender({ destinations: [createGuarded()], maxTimeoutMs, ...signing })
        : createSender({
            destinations: [
              createHttp({
                guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }),
                clientCertificate,
              }),
            ],
            ...signing,
          }),
  };
}
