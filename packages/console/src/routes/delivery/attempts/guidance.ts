/** Explains the likely cause of a failed attempt, and how to fix it. */
import { isTablesUrl, queueBrokerOf } from '@sluice/kit/contract';
import type { DeliveryAttempt } from '@sluice/kit/sluice';
import { formatBytes, formatClock, formatDuration } from '../../../ui/text/format.ts';

export interface Guidance {
  advice: string;
  /** Next steps, the most helpful first. */
  offers: readonly SuggestedAction[];
}

/**
 * A next step: a link (`verify`, `edit`, `limit`), a command to copy (`curl`, `connect`, `local`),
 * or another text to copy.
 */
export type SuggestedAction =
  | 'verify'
  | 'edit'
  | 'limit'
  | 'curl'
  | 'connect'
  | 'local'
  | { label: string; copy: string };

/** Facts that the advice depends on, in addition to the attempt itself. */
export interface AttemptFigures {
  bodyBytes: number;
  /**
   * 95th percentile of the duration of the stream's recent successful attempts; null if there were
   * none.
   */
  p95Ms: number | null;
  /** Time of the next attempt, in Unix milliseconds; null if none follows. */
  nextAttemptAt: number | null;
}

/** Returns advice for an attempt, with next steps; null if there is no advice. */
export function attemptGuidance(
  {
    status,
    error,
    durationMs,
    address,
    webhookUrl,
  }: Pick<DeliveryAttempt, 'status' | 'error' | 'durationMs' | 'address' | 'webhookUrl'>,
  { bodyBytes, p95Ms, nextAttemptAt }: AttemptFigures,
): Guidance | null {
  const usual =
    p95Ms === null ? '' : ` Successful attempts take up to ${formatDuration(p95Ms)} (p95).`;
  const respondFirst = `${usual} Respond with 2xx first, then do the work.`;
  if (status === null) {
    // Errors of queues and databases say what to do, and there is nothing to try with curl.
    if (error === null || queueBrokerOf(webhookUrl) !== undefined) return null;
    if (isTablesUrl(webhookUrl)) return null;
    return (
      transportGuidance(error, { address, webhookUrl }) ??
      (/time|abort|deadline|no complete response/i.test(error)
        ? guide(
            `No complete response after ${formatDuration(durationMs)}.${respondFirst}`,
            RESPOND_FIRST,
            'curl',
          )
        : null)
    );
  }
  if (status === 401 || status === 403) {
    return guide(
      'The handler rejected the request, usually because the signature did not verify. Check that the handler verifies the raw body with the correct secret.',
      'verify',
    );
  }
  if (status === 404 || status === 405) {
    return guide(
      'The receiver is reachable, but the path or method is wrong. Check the stream’s webhook URL. Webhooks are POST requests.',
      'edit',
    );
  }
  if (status === 408 || status === 504) {
    return guide(
      `The receiver timed out after ${formatDuration(durationMs)}.${respondFirst}`,
      RESPOND_FIRST,
    );
  }
  if (status === 410) {
    return guide(
      'Gone: the receiver no longer accepts webhooks at this URL. Correct the webhook URL.',
      'edit',
    );
  }
  if (status === 413) {
    return guide(
      `This body of ${formatBytes(bodyBytes)} exceeds the receiver’s limit. Raise the limit there; Express allows 100 kB by default.`,
      EXPRESS_LIMIT,
    );
  }
  if (status === 429) {
    return guide(
      nextAttemptAt === null
        ? 'The receiver is rate limiting requests. Limit the rate of the stream.'
        : `The receiver is rate limiting requests. The next attempt waits until ${formatClock(nextAttemptAt).slice(0, 8)}. You can also limit the rate of the stream.`,
      'limit',
    );
  }
  if (status >= 500) {
    return guide('The handler failed or is restarting. See its response.', 'local');
  }
  if (status >= 300 && status < 400) {
    return guide(
      'Redirects are not followed. Set the stream’s webhook URL to the final URL.',
      'edit',
    );
  }
  return null;
}

const guide = (advice: string, ...offers: SuggestedAction[]): Guidance => ({ advice, offers });

const RESPOND_FIRST: SuggestedAction = {
  label: 'Copy a handler that responds first',
  copy: `// Queue the webhook and respond; a worker does the slow part.
handler.onWebhook(async (webhook, { id }) => {
  await queue.add('webhook', webhook, { jobId: id });
});`,
};

const EXPRESS_LIMIT: SuggestedAction = {
  label: 'Copy the line for Express',
  copy: `app.use('/webhooks', express.raw({ type: '*/*', limit: '10mb' }));`,
};

/** Returns advice if the connection failed; null for other causes, such as a slow receiver. */
function transportGuidance(
  error: string,
  { address, webhookUrl }: Pick<DeliveryAttempt, 'address' | 'webhookUrl'>,
): Guidance | null {
  const cause = error.toLowerCase();
  const host = URL.parse(webhookUrl)?.hostname ?? webhookUrl;
  const tried = address === null ? '' : ` Tried ${address}.`;
  // Certificate errors are checked first, because they can contain any word.
  if (cause.startsWith('the certificate ')) {
    return guide(
      `The secure connection failed: ${error}. Renew or fix the certificate at the receiver. Queued deliveries are then sent automatically.`,
      'connect',
    );
  }
  if (/^the address \S+ is private/.test(cause)) return guardGuidance(error, host);
  if (cause.startsWith('port '))
    return guide(`The service does not send to this port: ${error}.`, 'edit');
  if (/eai_again|not resolved|etimeout|servfail/.test(cause)) {
    return guide(
      `The name ${host} could not be resolved: a name server of the service or of the domain failed or did not respond.`,
      'connect',
    );
  }
  if (/enotfound|getaddrinfo|dns/.test(cause)) {
    return guide(
      `The name ${host} does not resolve from the service’s machine. Check the webhook URL and the domain’s DNS records.`,
      'edit',
      'connect',
    );
  }
  if (/connect (timeout|etimedout|ehostunreach|enetunreach)/.test(cause)) {
    return guide(
      `Couldn’t connect to the receiver.${tried} Check the host and port in the webhook URL, and any firewall in between.`,
      'connect',
      'edit',
    );
  }
  if (/refused/.test(cause)) {
    return guide(
      `Nothing is listening on this host and port.${tried} Start the receiver, or correct the webhook URL.`,
      'connect',
      'edit',
    );
  }
  if (/wrong version number|packet length too long/.test(cause)) {
    return guide(
      `The receiver does not speak TLS on this port.${tried} Correct the port, or use http: in the webhook URL.`,
      'connect',
      'edit',
    );
  }
  if (/cert|tls|ssl/.test(cause)) {
    return guide(
      `The secure connection failed.${tried} Check the receiver’s TLS versions, and the name, chain and expiry of its certificate.`,
      'connect',
    );
  }
  if (/econnreset|socket|hang up|other side/.test(cause)) {
    return guide(`The receiver closed the connection before it responded.${tried}`, 'curl');
  }
  return null;
}

/** Returns advice for a request that was not sent because its address is not public. */
function guardGuidance(error: string, host: string): Guidance {
  const refused = error.split(' ', 3)[2] ?? host;
  const network = networkOf(refused);
  const allow: SuggestedAction[] =
    network === null
      ? []
      : [{ label: 'Copy the --allow-cidr flag', copy: `--allow-cidr ${network}` }];
  return guide(
    `${
      host === refused || host === `[${refused}]`
        ? `${refused} is not public.`
        : `${host} resolves to ${refused}, which is not public.`
    } To prevent SSRF, the service does not send webhooks to private addresses. If the receiver is yours, restart the service with --allow-cidr.`,
    ...allow,
    'edit',
    'connect',
  );
}

/**
 * Returns a network that contains only this IP address, or the loopback network for `localhost`.
 * Returns null for other names, which can resolve to any address.
 */
function networkOf(address: string): string | null {
  if (address === 'localhost') return '127.0.0.0/8';
  if (address.includes(':')) return `${address}/128`;
  return /^[\d.]+$/.test(address) ? `${address}/32` : null;
}
