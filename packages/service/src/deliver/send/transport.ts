/** What is kept of how an attempt reached its receiver. */
import type { AttemptTransport } from '../../store/deliveries/contract.ts';
import type { ShownCertificate } from './certificate.ts';
import type { Posted } from './post.ts';

const SOON_MS = 14 * 24 * 3_600_000;

/** Of an attempt on an open connection it is told only while it matters. */
function toldOf(
  certificate: ShownCertificate | null,
  isNew: boolean,
): AttemptTransport['certificate'] {
  if (certificate === null) return null;
  const expiresSoon = certificate.expiresAt - Date.now() < SOON_MS;
  return isNew || expiresSoon ? { ...certificate, expiresSoon } : null;
}

/**
 * Null of an attempt on an open connection that was answered at once: that is nearly every attempt, and what
 * is known of it is how long it took.
 *
 * @param beganAt when the attempt began and ended, as `performance.now()` says
 * @param known the certificate of the receiver, if it was shown before
 */
export function toTransport(
  { connecting, isSent, answeredAt }: Pick<Posted, 'connecting' | 'isSent' | 'answeredAt'>,
  { beganAt, endedAt }: { beganAt: number; endedAt: number },
  known: ShownCertificate | null,
): AttemptTransport | null {
  const bodyMs = answeredAt === undefined ? null : Math.round(endedAt - answeredAt);
  const isNew = connecting !== undefined;
  const certificate = toldOf(isNew ? connecting.certificate : known, isNew);
  if (connecting === undefined && bodyMs === 0 && certificate === null) return null;
  const sentAt = connecting?.endedAt ?? beganAt;
  return {
    parts: {
      dnsMs: connecting?.dnsMs ?? null,
      connectMs: connecting?.connectMs ?? null,
      tlsMs: connecting?.tlsMs ?? null,
      waitMs: isSent ? Math.round((answeredAt ?? endedAt) - sentAt) : null,
      bodyMs,
    },
    address: connecting?.address ?? null,
    certificate,
  };
}
