import type { OperatorNotice } from '../contract/notices.ts';
import { SluiceError } from '../errors.ts';
import { type UnwrapOptions, verifyRaw } from './unwrap.ts';

/** A verified alert. */
export interface ReceivedNotice {
  /** The same on every attempt: handle each once. */
  readonly id: string;
  readonly notice: OperatorNotice;
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
] as const satisfies readonly OperatorNotice['type'][];

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Verifies an alert (`--notify-url`) as `unwrap` does a webhook, and parses it.
 *
 * @throws SluiceError like `unwrap`; `invalid_webhook` if the body is signed but is not an alert.
 */
export function unwrapNotice(options: UnwrapOptions): ReceivedNotice {
  const { raw, claim } = verifyRaw({ ...options, allowXSignature: false });
  const id = claim.scheme === 'webhook-signature' ? claim.id : '';
  try {
    const notice = JSON.parse(typeof raw === 'string' ? raw : utf8.decode(raw)) as OperatorNotice;
    if (TYPES.includes(notice.type) && typeof notice.data === 'object') return { id, notice };
  } catch {
    // Not JSON.
  }
  throw new SluiceError('invalid_webhook', 'The body is signed but is not an alert');
}
