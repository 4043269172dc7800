/** Reads what JetStream stores, which needs permissions that a publisher may lack. */
import type { JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

const LOOKUP_MS = 2_000;

/** Returns a client whose calls fail after two seconds without a response. */
export async function createManager(connection: NatsConnection): Promise<JetStreamManager> {
  const { jetstreamManager } = await import('@nats-io/jetstream');
  return jetstreamManager(connection, { checkAPI: false, timeout: LOOKUP_MS });
}
