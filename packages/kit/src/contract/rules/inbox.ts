/**
 * The built-in receiver: a stream with the `webhookUrl` `sluice://inbox/<name>` delivers to the
 * service itself, which stores the webhooks. If the inbox does not exist, its first webhook creates
 * it.
 */
import type { InboxResponse } from '../shapes.generated.ts';

/** Response of an inbox that was not configured, and default of each omitted field. */
export const DEFAULT_INBOX_RESPONSE: InboxResponse = {
  status: 200,
  delayMs: 0,
  body: '',
  failFirst: 0,
  failEvery: 0,
  failStatus: 500,
};

const PREFIX = 'sluice://inbox/';
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/**
 * Returns whether a name is valid for an inbox: 1 to 63 lowercase letters, digits and dashes, but
 * no dash at the start.
 */
export const isInboxName = (name: string): boolean => NAME.test(name);

/** Returns the `webhookUrl` of a stream that delivers to this inbox. */
export const toInboxUrl = (name: string): string => PREFIX + name;

/** Returns the name of the inbox in a `webhookUrl`; undefined for other URLs. */
export function readInboxName(webhookUrl: string): string | undefined {
  if (!webhookUrl.startsWith(PREFIX)) return undefined;
  const name = webhookUrl.slice(PREFIX.length);
  return isInboxName(name) ? name : undefined;
}
