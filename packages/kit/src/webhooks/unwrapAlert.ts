import type { Alert } from '../contract/alerts.ts';
import { SluiceError } from '../errors.ts';
import { type UnwrapOptions, verifyRaw } from './unwrap.ts';

/** A verified alert. */
export interface ReceivedAlert {
  /** The same on every attempt: handle each once. */
  readonly id: string;
  readonly alert: Alert;
}

const TYPES = [
  'stream.error',
  'stream.terminated',
  'stream.recovered',
  'delivery.quarantined',
  'chain.halted',
  'chain.resumed',
  'disk.filling',
  'disk.recovered',
] as const satisfies readonly Alert['type'][];

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Verifies an alert (`--notify-url`) as `unwrap` does a webhook, and parses it.
 *
 * @throws SluiceError like `unwrap`; `invalid_webhook` if the body is signed but is not an alert.
 */
export function unwrapAlert(options: UnwrapOptions): ReceivedAlert {
  const { raw, claim } = verifyRaw({ ...options, allowXSignature: false });
  const id = claim.scheme === 'webhook-signature' ? claim.id : '';
  try {
    const alert = JSON.parse(typeof raw === 'string' ? raw : utf8.decode(raw)) as Alert;
    if (TYPES.includes(alert.type) && typeof alert.data === 'object') return { id, alert };
  } catch {
    // Not JSON.
  }
  throw new SluiceError('invalid_webhook', 'The body is signed but is not an alert');
}
