/**
 * The built-in receiver: a stream whose `webhookUrl` is `sluice://inbox/<name>` delivers into the
 * service itself, where what came can be looked at. It is made by the first webhook that comes.
 */
import type { InboxAnswer } from '../shapes.generated.ts';

/** How an inbox answers until it is told otherwise. */
export const DEFAULT_INBOX_ANSWER: InboxAnswer = {
  status: 200,
  delayMs: 0,
  body: '',
  failFirst: 0,
  failEvery: 0,
  failStatus: 500,
};

const PREFIX = 'sluice://inbox/';
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Whether an inbox can be called so: 1 to 63 small letters, digits and dashes. */
export const isInboxName = (name: string): boolean => NAME.test(name);

/** The `webhookUrl` of a stream that delivers into this inbox. */
export const toInboxUrl = (name: string): string => PREFIX + name;

/** The inbox that a `webhookUrl` names; undefined where it names none. */
export function readInboxName(webhookUrl: string): string | undefined {
  if (!webhookUrl.startsWith(PREFIX)) return undefined;
  const name = webhookUrl.slice(PREFIX.length);
  return isInboxName(name) ? name : undefined;
}
