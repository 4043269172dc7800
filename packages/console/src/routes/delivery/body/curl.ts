import type { DeliveryDetail } from '@sluice/kit/sluice';
import type { SentBody } from '../../../body/bodyWorker.ts';

/** Maximum length of a body on the command line. A longer body is read from `body.json`. */
const MAX_ARGUMENT_LENGTH = 100_000;

/** Quotes an argument for a POSIX shell. */
export const quoteShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Returns the request as a curl command. The default headers include no signatures, because only
 * the service can create them.
 */
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
  const data = isLong ? '@body.json' : quoteShell(body);
  return [
    `curl -v -X POST ${quoteShell(url)}`,
    ...Object.entries(headers).map(([name, value]) => `  -H ${quoteShell(`${name}: ${value}`)}`),
    `  --data-binary ${data}`,
  ].join(' \\\n');
}

/**
 * Returns a command that only tests the connection. It sends no body, and omits the credentials and
 * query of the URL.
 */
export function toConnectingCurl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `curl -v -X POST ${quoteShell(origin + pathname)}`;
}

/**
 * Returns a command that sends the delivery to port 3000 of the user's machine, with a new
 * signature.
 */
export const toReplayCommand = ({ id }: Pick<DeliveryDetail, 'id'>, url: string): string =>
  `sluice replay ${id} --to ${quoteShell(`http://localhost:3000${pathOf(url)}`)}`;

/** Returns the path of the URL; `/` for the URL of an inbox. */
const pathOf = (url: string): string => (/^https?:/.test(url) ? new URL(url).pathname : '/');
