/** What a failed attempt most often means, and what to do about it. */
import type { DeliveryAttempt } from '@sluice/kit/sluice';

/** @returns one sentence for people, or null where there is nothing useful to add. */
export function attemptGuidance({
  status,
  error,
}: Pick<DeliveryAttempt, 'status' | 'error'>): string | null {
  if (status === null) return error === null ? null : transportGuidance(error.toLowerCase());
  if (status === 401 || status === 403) {
    return 'The handler rejected the call, most often because the signature did not verify. Check that it uses this stream’s secret and the raw body.';
  }
  if (status === 404 || status === 405) {
    return 'The receiver is reachable, but path or method is wrong. Check the stream’s webhook URL; deliveries are POST.';
  }
  if (status === 408) {
    return 'The receiver gave up waiting. Answer 2xx first, then do the work.';
  }
  if (status === 410) {
    return 'Gone: the receiver says that it does not want webhooks any more.';
  }
  if (status === 413) {
    return 'The body is over the receiver’s limit. Raise it there: Express, for one, allows 100 kB by default.';
  }
  if (status === 429)
    return 'The receiver asks for fewer calls; the next attempt waits as it says.';
  if (status >= 500) return 'The handler crashed or is restarting; its answer is shown below.';
  if (status >= 300 && status < 400) {
    return 'Redirects are not followed. Set the stream’s webhook URL to the final address.';
  }
  return null;
}

function transportGuidance(error: string): string | null {
  if (/time|abort|deadline/.test(error)) {
    return 'No answer within the deadline. Answer 2xx first, then do the work.';
  }
  if (/enotfound|eai_again|dns|getaddrinfo/.test(error)) {
    return 'The name does not resolve from the service’s machine. Check the host in the webhook URL.';
  }
  if (/cert|tls|ssl/.test(error)) {
    return 'The secure connection failed. Check the receiver’s certificate: its name, its chain and its expiry.';
  }
  if (/private|loopback|not allowed|blocked|guard/.test(error)) {
    return 'The service does not call private addresses unless it was started to allow them.';
  }
  if (/econnrefused|refused/.test(error)) {
    return 'Nothing listens at this address and port. Start the receiver, or correct the webhook URL.';
  }
  if (/econnreset|socket|hang up/.test(error)) {
    return 'The receiver closed the connection before it answered.';
  }
  return null;
}
