import type { DeliveryDetail } from '@sluice/kit/sluice';
import type { SentBody } from '../../../body/bodyWorker.ts';

/** Maximum length of a body on a command line. */
const MAX_ARGUMENT_LENGTH = 100_000;

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns the request as a curl command, without signatures, which only the service can make. */
export function toCurl(
  {
    id,
    body,
    headers = { 'content-type': 'application/json', 'webhook-id': id },
  }: {
    id: string;
    body: SentBody;
    headers?: Readonly<Record<string, string>>;
  },
  url: string,
): string {
  const isLong = typeof body !== 'string' || body.length > MAX_ARGUMENT_LENGTH;
  const data = isLong ? '@body.json' : quote(body);
  return [
    `curl -v -X POST ${quote(url)}`,
    ...Object.entries(headers).map(([name, value]) => `  -H ${quote(`${name}: ${value}`)}`),
    `  --data-binary ${data}`,
  ].join(' \\\n');
}

/**
 * Returns a command that only tests the connection. It has no body, and no credentials or tokens in
 * the URL.
 */
export function toConnectingCurl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `curl -v -X POST ${quote(origin + pathname)}`;
}

/** Returns a command that sends the delivery from the user's machine with a new signature. */
export const toReplayCommand = ({ id }: Pick<DeliveryDetail, 'id'>, url: string): string =>
  `sluice replay ${id} --to ${quote(`http://localhost:3000${pathOf(url)}`)}`;

/** Inboxes have no path. */
const pathOf = (url: string): string => (/^https?:/.test(url) ? new URL(url).pathname : '/');
