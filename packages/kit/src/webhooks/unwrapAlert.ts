import type { Alert } from '../contract/alerts.ts';
import { SluiceError } from '../errors.ts';
import { type PublicKeyOptions, verifyRawWithPublicKey } from './publicKey.ts';
import { type Claim, type UnwrapOptions, verifyRaw } from './unwrap.ts';

/** A verified alert. */
export interface ReceivedAlert {
  /** The id of the alert, the same on every attempt. Handle each id once. */
  readonly id: string;
  readonly alert: Alert;
}

const TYPES = [
  'stream.error',
  'stream.terminated',
  'stream.recovered',
  'delivery.quarantined',
  'feed.expiring',
  'feed.recovered',
  'chain.halted',
  'chain.resumed',
  'disk.filling',
  'disk.recovered',
  'client-certificate.expiring',
  'client-certificate.renewed',
  'alert.test',
] as const satisfies readonly Alert['type'][];

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Verifies and parses an alert, which the service sends to its alert URLs (`--notify-url`). Accepts
 * only `webhook-signature`.
 *
 * @throws SluiceError as `unwrap` does; `invalid_webhook` if the body is signed but is not an
 * alert.
 */
export function unwrapAlert(options: UnwrapOptions): ReceivedAlert {
  return toReceived(verifyRaw({ ...options, allowXSignature: false }));
}

/** Like {@link unwrapAlert}, but verifies with public keys. */
export const unwrapAlertWithPublicKey = async (options: PublicKeyOptions): Promise<ReceivedAlert> =>
  toReceived(await verifyRawWithPublicKey(options));

function toReceived({ raw, claim }: { raw: string | Uint8Array; claim: Claim }): ReceivedAlert {
  const id = claim.scheme === 'webhook-signature' ? claim.id : '';
  try {
    const alert = JSON.parse(typeof raw === 'string' ? raw : utf8.decode(raw)) as Alert;
    if (TYPES.includes(alert.type) && typeof alert.data === 'object') return { id, alert };
  } catch {
    // The error below also applies to a body that is not JSON.
  }
  throw new SluiceError('invalid_webhook', 'The body is signed but is not an alert', {
    hint: 'Use this URL only as an alert URL. unwrap reads the webhooks of streams.',
  });
}
