/** Describes how an attempt reached its receiver. */
import type { AttemptTransport } from '../../../store/deliveries/contract.ts';
import type { ShownCertificate } from './certificate.ts';
import type { PostResult } from './post.ts';

const SOON_MS = 14 * 24 * 3_600_000;

/**
 * Returns the certificate to report: on a new connection always, on a reused connection only if it
 * expires soon; otherwise null.
 */
function toReported(
  certificate: ShownCertificate | null,
  isNew: boolean,
): AttemptTransport['certificate'] {
  if (certificate === null) return null;
  const expiresSoon = certificate.expiresAt - Date.now() < SOON_MS;
  return isNew || expiresSoon ? { ...certificate, expiresSoon } : null;
}

/**
 * Returns the timing, address and certificate of an attempt; null if it reused a connection, its
 * response body arrived at once and its certificate does not expire soon.
 *
 * @param beganAt start of the attempt, from `performance.now()`
 * @param known the receiver's certificate, if it was observed before
 */
export function toTransport(
  { connecting, isSent, answeredAt }: Pick<PostResult, 'connecting' | 'isSent' | 'answeredAt'>,
  { beganAt, endedAt }: { beganAt: number; endedAt: number },
  known: ShownCertificate | null,
): AttemptTransport | null {
  const bodyMs = answeredAt === undefined ? null : Math.round(endedAt - answeredAt);
  const isNew = connecting !== undefined;
  const certificate = toReported(isNew ? connecting.certificate : known, isNew);
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
