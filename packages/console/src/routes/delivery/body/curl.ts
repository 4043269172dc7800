import type { DeliveryDetail } from '@sluice/kit/sluice';
import type { SentBody } from '../../../body/bodyWorker.ts';

/** Longer bodies do not fit on a command line. */
const LONGEST_ARGUMENT = 100_000;

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The call as a command; without signatures, which only the service can make. */
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
  const isLong = typeof body !== 'string' || body.length > LONGEST_ARGUMENT;
  const data = isLong ? '@body.json' : quote(body);
  return [
    `curl -v -X POST ${quote(url)}`,
    ...Object.entries(headers).map(([name, value]) => `  -H ${quote(`${name}: ${value}`)}`),
    `  --data-binary ${data}`,
  ].join(' \\\n');
}

/**
 * Only tries whether a connection comes about: without a body, and without what the URL may have of a
 * login or a token.
 */
export function toConnectingCurl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `curl -v -X POST ${quote(origin + pathname)}`;
}

/** Sends it from the machine of whoever types it, signed anew. */
export const toReplayCommand = ({ id }: Pick<DeliveryDetail, 'id'>, url: string): string =>
  `sluice replay ${id} --to ${quote(`http://localhost:3000${pathOf(url)}`)}`;

/** Of an inbox there is none. */
const pathOf = (url: string): string => (/^https?:/.test(url) ? new URL(url).pathname : '/');
