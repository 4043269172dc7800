/** Explains the likely cause of a failed attempt, and how to fix it. */
import type { DeliveryAttempt } from '@sluice/kit/sluice';
import { formatBytes, formatClock, formatDuration } from '../../../ui/text/format.ts';

export interface Guidance {
  /** One or two sentences. */
  advice: string;
  /** Next steps, the most helpful first. */
  offers: readonly Offer[];
}

/**
 * A next step: a link, a command that repeats the request, tests the connection or replays to
 * localhost, or text to copy.
 */
export type Offer =
  | 'verify'
  | 'edit'
  | 'limit'
  | 'curl'
  | 'connect'
  | 'local'
  | { label: string; copy: string };

/** Figures in addition to the attempt itself. */
export interface AttemptFigures {
  bodyBytes: number;
  /** The p95 of the stream's recent successful attempts, or null without any. */
  p95Ms: number | null;
  /** Time of the next attempt; null if none follows. */
  nextAttemptAt: number | null;
}

/** @returns the advice; null if there is none. */
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
  const answerFirst = `${usual} Respond with 2xx first, then do the work.`;
  if (status === null) {
    if (error === null) return null;
    return (
      transportGuidance(error, { address, webhookUrl }) ??
      (/time|abort|deadline|no complete response/i.test(error)
        ? guide(
            `No response after ${formatDuration(durationMs)}.${answerFirst}`,
            ANSWER_FIRST,
            'curl',
          )
        : null)
    );
  }
  if (status === 401 || status === 403) {
    return guide(
      'The handler rejected the request, usually because the signature did not verify. Check that it uses this service’s secret and the raw body.',
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
      `The receiver timed out after ${formatDuration(durationMs)}.${answerFirst}`,
      ANSWER_FIRST,
    );
  }
  if (status === 410) {
    return guide('Gone: the receiver no longer accepts webhooks.', 'edit');
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
        ? 'The receiver limits its request rate. Limit the rate of the stream.'
        : `The receiver limits its request rate: the next attempt waits until ${formatClock(nextAttemptAt).slice(0, 8)}. You can also limit the rate of the stream.`,
      'limit',
    );
  }
  if (status >= 500) {
    return guide('The handler crashed or is restarting. See its response.', 'local');
  }
  if (status >= 300 && status < 400) {
    return guide(
      'Redirects are not followed. Set the stream’s webhook URL to the final address.',
      'edit',
    );
  }
  return null;
}

const guide = (advice: string, ...offers: Offer[]): Guidance => ({ advice, offers });

const ANSWER_FIRST: Offer = {
  label: 'Copy a handler that responds first',
  copy: `// Queue the webhook and respond; a worker does the slow part.
handler.onWebhook(async (webhook, { id }) => {
  await queue.add('webhook', webhook, { jobId: id });
});`,
};

const EXPRESS_LIMIT: Offer = {
  label: 'Copy the line for Express',
  copy: `app.use('/webhooks', express.raw({ type: '*/*', limit: '10mb' }));`,
};

/** Returns advice for a failed connection, or null for other causes, such as a slow receiver. */
function transportGuidance(
  error: string,
  { address, webhookUrl }: Pick<DeliveryAttempt, 'address' | 'webhookUrl'>,
): Guidance | null {
  const cause = error.toLowerCase();
  const host = URL.parse(webhookUrl)?.hostname ?? webhookUrl;
  const tried = address === null ? '' : ` Tried ${address}.`;
  // Checked first, because certificate errors can contain any word.
  if (cause.startsWith('the certificate ')) {
    return guide(
      `The secure connection failed: ${error}. Renew or fix it at the receiver. Queued deliveries are then sent automatically.`,
      'connect',
    );
  }
  if (/^the address \S+ is private/.test(cause)) return guardGuidance(error, host);
  if (cause.startsWith('port '))
    return guide(`The service does not send to this port: ${error}.`, 'edit');
  if (/eai_again|not resolved|etimeout|servfail/.test(cause)) {
    return guide(
      `The name ${host} was not resolved in time. The name server of the service or of the domain does not respond.`,
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
      `Nothing listens at this address and port.${tried} Start the receiver, or correct the webhook URL.`,
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
      `The secure connection failed.${tried} Check the receiver’s versions of TLS, and the name, chain and expiry of its certificate.`,
      'connect',
    );
  }
  if (/econnreset|socket|hang up|other side/.test(cause)) {
    return guide(`The receiver closed the connection before it responded.${tried}`, 'curl');
  }
  return null;
}

/** Advice for a request that the service did not send, because its address is not public. */
function guardGuidance(error: string, host: string): Guidance {
  const refused = error.split(' ', 3)[2] ?? host;
  const network = networkOf(refused);
  const allow: Offer[] =
    network === null
      ? []
      : [{ label: 'Copy the flag that allows it', copy: `--allow-cidr ${network}` }];
  return guide(
    `${
      host === refused || host === `[${refused}]`
        ? `${refused} is not public.`
        : `${host} resolves to ${refused}, which is not public.`
    } The service keeps webhooks out of its own network (SSRF). If the receiver is yours, start the service with --allow-cidr.`,
    ...allow,
    'edit',
    'connect',
  );
}

/** Returns the network of a single IP address; null for names, which can resolve to any. */
function networkOf(address: string): string | null {
  if (address === 'localhost') return '127.0.0.0/8';
  if (address.includes(':')) return `${address}/128`;
  return /^[\d.]+$/.test(address) ? `${address}/32` : null;
}
