/** What a failed attempt most often means, and what to do about it. */
import type { DeliveryAttempt } from '@sluice/kit/sluice';
import { formatBytes, formatClock, formatDuration } from './format.ts';

export interface Guidance {
  /** One or two sentences for people. */
  advice: string;
  /**
   * Where the page leads on: to the signature check, to the stream's URL or its limits, to a call to try,
   * or to a command that sends it to a receiver at work.
   */
  offer: 'verify' | 'edit' | 'limit' | 'curl' | 'local' | null;
}

/** What is known beside the attempt itself. */
export interface AttemptFigures {
  bodyBytes: number;
  /** Of the stream's attempts that got a 2xx lately; null without any. */
  p95Ms: number | null;
  /** Null where none comes. */
  nextAttemptAt: number | null;
}

/** @returns null where there is nothing useful to add. */
export function attemptGuidance(
  {
    status,
    error,
    durationMs,
    address,
  }: Pick<DeliveryAttempt, 'status' | 'error' | 'durationMs' | 'address'>,
  { bodyBytes, p95Ms, nextAttemptAt }: AttemptFigures,
): Guidance | null {
  const tooSlow = (what: string): string =>
    `${what} after ${formatDuration(durationMs)}${
      p95Ms === null ? '' : `; what gets a 2xx takes up to ${formatDuration(p95Ms)} (p95)`
    }. Answer 2xx first, then do the work.`;
  if (status === null) {
    if (error === null) return null;
    return (
      transportGuidance(error, address) ??
      (/time|abort|deadline|no complete answer/i.test(error)
        ? guide(tooSlow('No answer'), 'curl')
        : null)
    );
  }
  if (status === 401 || status === 403) {
    return guide(
      'The handler rejected the call, most often because the signature did not verify. Check that it uses this service’s secret and the raw body.',
      'verify',
    );
  }
  if (status === 404 || status === 405) {
    return guide(
      'The receiver is reachable, but path or method is wrong. Check the stream’s webhook URL; deliveries are POST.',
      'edit',
    );
  }
  if (status === 408) {
    return guide(tooSlow('The receiver gave up'));
  }
  if (status === 410) {
    return guide('Gone: the receiver says that it does not want webhooks any more.', 'edit');
  }
  if (status === 413) {
    return guide(
      `This body of ${formatBytes(bodyBytes)} is over the receiver’s limit. Raise it there: Express, for one, allows 100 kB unless it is told express.raw({ type: '*/*', limit: '10mb' }).`,
    );
  }
  if (status === 429) {
    const until = nextAttemptAt === null ? '' : ` until ${formatClock(nextAttemptAt).slice(0, 8)}`;
    return guide(
      `The receiver asks for fewer calls: the next attempt waits${until}. Or send it fewer at once.`,
      'limit',
    );
  }
  if (status >= 500) {
    return guide('The handler crashed or is restarting; its answer says more.', 'local');
  }
  if (status >= 300 && status < 400) {
    return guide(
      'Redirects are not followed. Set the stream’s webhook URL to the final address.',
      'edit',
    );
  }
  return null;
}

const guide = (advice: string, offer: Guidance['offer'] = null): Guidance => ({ advice, offer });

function transportGuidance(error: string, address: string | null): Guidance | null {
  const cause = error.toLowerCase();
  const tried = address === null ? '' : ` Tried ${address}.`;
  // Before the others: what the service says of a certificate may hold any word.
  if (cause.startsWith('the certificate ')) {
    return guide(
      `The secure connection failed: ${error}. Renew or correct it at the receiver; what waits is then delivered by itself.`,
      'curl',
    );
  }
  if (/enotfound|eai_again|dns|getaddrinfo|not resolved/.test(cause)) {
    return guide(
      'The name does not resolve from the service’s machine. Check the host in the webhook URL.',
      'edit',
    );
  }
  if (/private|loopback|not allowed|blocked|guard/.test(cause)) {
    return guide(
      'The service does not call private addresses unless it was started to allow them.',
      'edit',
    );
  }
  if (/connect timeout/.test(cause)) {
    return guide(
      `No connection came about.${tried} Check host and port in the webhook URL, and what stands between: a firewall swallows calls like this.`,
      'curl',
    );
  }
  if (/econnrefused|refused/.test(cause)) {
    return guide(
      `Nothing listens at this address and port.${tried} Start the receiver, or correct the webhook URL.`,
      'curl',
    );
  }
  if (/cert|tls|ssl/.test(cause)) {
    return guide(
      `The secure connection failed.${tried} Check that the receiver speaks TLS at this port, and its certificate: its name, its chain and its expiry.`,
      'curl',
    );
  }
  if (/econnreset|socket|hang up|other side/.test(cause)) {
    return guide(`The receiver closed the connection before it answered.${tried}`, 'curl');
  }
  return null;
}
