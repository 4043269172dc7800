/** What a failed attempt most often means, and what to do about it. */
import type { DeliveryAttempt } from '@sluice/kit/sluice';
import { formatBytes, formatClock, formatDuration } from '../../../ui/text/format.ts';

export interface Guidance {
  /** One or two sentences for people. */
  advice: string;
  /** Where the page leads on, what helps most first. */
  offers: readonly Offer[];
}

/**
 * The signature check, the stream's URL, its limits; a command that makes the same call, one that only
 * tries whether a connection comes about, one that sends it to a receiver at work; or a text to copy.
 */
export type Offer =
  | 'verify'
  | 'edit'
  | 'limit'
  | 'curl'
  | 'connect'
  | 'local'
  | { label: string; copy: string };

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
    webhookUrl,
  }: Pick<DeliveryAttempt, 'status' | 'error' | 'durationMs' | 'address' | 'webhookUrl'>,
  { bodyBytes, p95Ms, nextAttemptAt }: AttemptFigures,
): Guidance | null {
  const tooSlow = (what: string): string =>
    `${what} after ${formatDuration(durationMs)}${
      p95Ms === null ? '' : `; what gets a 2xx takes up to ${formatDuration(p95Ms)} (p95)`
    }. Answer 2xx first, then do the work.`;
  if (status === null) {
    if (error === null) return null;
    return (
      transportGuidance(error, { address, webhookUrl }) ??
      (/time|abort|deadline|no complete answer/i.test(error)
        ? guide(tooSlow('No answer'), ANSWER_FIRST, 'curl')
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
  if (status === 408 || status === 504) {
    return guide(tooSlow('The receiver gave up'), ANSWER_FIRST);
  }
  if (status === 410) {
    return guide('Gone: the receiver says that it does not want webhooks any more.', 'edit');
  }
  if (status === 413) {
    return guide(
      `This body of ${formatBytes(bodyBytes)} is over the receiver’s limit. Raise it there: Express, for one, allows 100 kB unless it is told another limit.`,
      EXPRESS_LIMIT,
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

const guide = (advice: string, ...offers: Offer[]): Guidance => ({ advice, offers });

const ANSWER_FIRST: Offer = {
  label: 'Copy a handler that answers first',
  copy: `// Keep it and answer; a worker of its own does what takes long.
handler.onWebhook(async (webhook, { id }) => {
  await queue.add('webhook', webhook, { jobId: id });
});`,
};

const EXPRESS_LIMIT: Offer = {
  label: 'Copy the line for Express',
  copy: `app.use('/webhooks', express.raw({ type: '*/*', limit: '10mb' }));`,
};

/** Of a call that no answer came to; null where it is none of these, such as a receiver that is slow. */
function transportGuidance(
  error: string,
  { address, webhookUrl }: Pick<DeliveryAttempt, 'address' | 'webhookUrl'>,
): Guidance | null {
  const cause = error.toLowerCase();
  const host = URL.parse(webhookUrl)?.hostname ?? webhookUrl;
  const tried = address === null ? '' : ` Tried ${address}.`;
  // Before the others: what the service says of a certificate may hold any word.
  if (cause.startsWith('the certificate ')) {
    return guide(
      `The secure connection failed: ${error}. Renew or correct it at the receiver; what waits is then delivered by itself.`,
      'connect',
    );
  }
  if (/^the address \S+ is private/.test(cause)) return guardGuidance(error, host);
  if (cause.startsWith('port ')) return guide(`The service does not call it: ${error}.`, 'edit');
  if (/eai_again|not resolved|etimeout|servfail/.test(cause)) {
    return guide(
      `The service’s machine was not told in time what ${host} leads to: its name server, or that of the domain, does not answer.`,
      'connect',
    );
  }
  if (/enotfound|getaddrinfo|dns/.test(cause)) {
    return guide(
      `The name ${host} does not resolve from the service’s machine. Check it in the webhook URL, and the domain’s records.`,
      'edit',
      'connect',
    );
  }
  if (/connect (timeout|etimedout|ehostunreach|enetunreach)/.test(cause)) {
    return guide(
      `No connection came about.${tried} Check host and port in the webhook URL, and what stands between: a firewall swallows calls like this.`,
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
      `The receiver does not speak TLS at this port.${tried} Correct the port, or write http: in the webhook URL.`,
      'connect',
      'edit',
    );
  }
  if (/cert|tls|ssl/.test(cause)) {
    return guide(
      `The secure connection failed.${tried} Check which versions of TLS the receiver speaks, and its certificate: its name, its chain and its expiry.`,
      'connect',
    );
  }
  if (/econnreset|socket|hang up|other side/.test(cause)) {
    return guide(`The receiver closed the connection before it answered.${tried}`, 'curl');
  }
  return null;
}

/** Of a call that the service did not make, for the address in its URL or that its name led to. */
function guardGuidance(error: string, host: string): Guidance {
  const refused = error.split(' ', 3)[2] ?? host;
  const network = networkOf(refused);
  const allow: Offer[] =
    network === null
      ? []
      : [{ label: 'Copy the flag that allows it', copy: `--allow-cidr ${network}` }];
  return guide(
    `${host === refused || host === `[${refused}]` ? refused : `${host} leads to ${refused}, which`} is not public, and the service keeps webhooks out of its own network (SSRF). If the receiver is yours, start the service with --allow-cidr.`,
    ...allow,
    'edit',
    'connect',
  );
}

/** Of an IP address that alone; null of a name, which may lead anywhere. */
function networkOf(address: string): string | null {
  if (address === 'localhost') return '127.0.0.0/8';
  if (address.includes(':')) return `${address}/128`;
  return /^[\d.]+$/.test(address) ? `${address}/32` : null;
}
