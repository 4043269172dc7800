/** Commands that repeat a delivery. */
import { quoteShell, toCurl } from '@sluice/kit/contract';
import type { DeliveryDetail } from '@sluice/kit/sluice';
import type { SentBody } from '../../../body/bodyWorker.ts';

/**
 * Returns a curl command that sends the delivery without signatures, which only the service can
 * create.
 */
export const toDeliveryCurl = (id: string, body: SentBody, url: string): string =>
  toCurl({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', 'webhook-id': id },
    body,
  });

/**
 * Returns a command that sends the delivery to port 3000 of the user's machine, with a new
 * signature.
 */
export const toReplayCommand = ({ id }: Pick<DeliveryDetail, 'id'>, url: string): string =>
  `sluice replay ${id} --to ${quoteShell(`http://localhost:3000${pathOf(url)}`)}`;

/** Returns the path of the URL; `/` for the URL of an inbox. */
const pathOf = (url: string): string => (/^https?:/.test(url) ? new URL(url).pathname : '/');
