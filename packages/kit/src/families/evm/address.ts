const ADDRESS = /^0[xX][0-9a-fA-F]{40}$/;

/**
 * Returns the address in lowercase, as in webhooks, or undefined if `value` is not an address.
 * Accepts any casing, including a wrong checksum.
 */
export function toAddress(value: unknown): string | undefined {
  return typeof value === 'string' && ADDRESS.test(value) ? value.toLowerCase() : undefined;
}
