/** A handler that verifies webhooks with public keys of the service. */
import type { AbiItem } from '../../contract/shapes.generated.ts';
import type { AnyAbi } from '../../families/handlerMethods.ts';
import { diagnoseWithPublicKey, publicKeysOf, unwrapWithPublicKey } from '../publicKey.ts';
import { toleranceOf } from '../unwrap.ts';
import { toHandler } from './handler.ts';
import type { PublicKeyHandlerOptions, WebhookHandler } from './types.ts';

/**
 * Creates a handler like {@link createHandler} that verifies webhooks with public keys, as
 * {@link unwrapWithPublicKey} does.
 *
 * @throws SluiceError `missing_secret` without a public key, `invalid_argument` for a malformed
 * public key or a number out of bounds.
 */
export function createHandlerWithPublicKey<const A extends AnyAbi = readonly AbiItem[]>(
  options: PublicKeyHandlerOptions<A>,
): WebhookHandler<A> {
  toleranceOf(options);
  publicKeysOf(options);
  return toHandler(options, {
    verify: (request) => unwrapWithPublicKey({ ...options, ...request, family: 'any' }),
    diagnose: (request) => diagnoseWithPublicKey({ ...options, ...request }),
  });
}
