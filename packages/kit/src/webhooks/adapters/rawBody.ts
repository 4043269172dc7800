/** The raw body of a webhook. Signatures cover the body exactly as it was received. */

/** Unparsed bytes or text. A Node `Buffer` is allowed, because it is a `Uint8Array`. */
export type RawBody = string | Uint8Array | ArrayBuffer;

/**
 * Returns a raw body as text or bytes, or undefined for anything else. Avoids `instanceof`, because
 * test runners mix objects of several realms.
 */
export function toRaw(body: unknown): string | Uint8Array | undefined {
  if (typeof body === 'string') return body;
  if (ArrayBuffer.isView(body)) {
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  }
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') {
    return new Uint8Array(body as ArrayBuffer);
  }
  return undefined;
}
