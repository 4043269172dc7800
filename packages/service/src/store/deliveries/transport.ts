/**
 * Stores how attempts reached their receivers. Nearly all attempts use an open connection, so
 * nothing is stored for them.
 */
import type { AttemptTimings, DeliveryAttempt } from '@sluice/kit/contract';
import type { AttemptTransport } from './contract.ts';
import type { Tables } from '../tables/tables.ts';

type Ms = number | null;
type Packed = [Ms, Ms, Ms, Ms, Ms, AttemptTransport['address'], AttemptTransport['certificate']];

/** Packs the transport into a short JSON list. */
export function packTransport({ parts, address, certificate }: AttemptTransport): string {
  const { dnsMs, connectMs, tlsMs, waitMs, bodyMs } = parts;
  const packed: Packed = [dnsMs, connectMs, tlsMs, waitMs, bodyMs, address, certificate];
  return JSON.stringify(packed);
}

/** Unpacks the transport. If none is stored, derives it from the other fields. */
export function readTransport({
  transport,
  webhook_url: webhookUrl,
  status,
  duration_ms: durationMs,
}: Pick<Tables['attempt'], 'transport' | 'webhook_url' | 'status' | 'duration_ms'>): Pick<
  DeliveryAttempt,
  'parts' | 'address' | 'certificate'
> {
  if (transport !== null) {
    const [dnsMs, connectMs, tlsMs, waitMs, bodyMs, address, certificate] = JSON.parse(
      transport,
    ) as Packed;
    return { parts: { dnsMs, connectMs, tlsMs, waitMs, bodyMs }, address, certificate };
  }
  // Deliveries to inboxes (`sluice:`) do not use the network.
  const isOverNetwork = status !== null && /^https?:/i.test(webhookUrl);
  return {
    parts: isOverNetwork ? answeredAtOnce(durationMs) : null,
    address: null,
    certificate: null,
  };
}

const answeredAtOnce = (durationMs: number): AttemptTimings => ({
  dnsMs: null,
  connectMs: null,
  tlsMs: null,
  waitMs: durationMs,
  bodyMs: 0,
});
