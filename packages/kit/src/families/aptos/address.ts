/** The format of Aptos addresses and Move paths. */

/** Matches an address; `0x` and leading zeros are optional. */
const ADDRESS = /^(?:0[xX])?([0-9a-fA-F]{1,64})$/;

/**
 * Returns `0x` and 64 hex digits, or undefined if `value` is not an Aptos address. Keeps the
 * casing, as the official client does, because a service may compare the result with a stored
 * address.
 */
export function padAptosAddress(value: unknown): string | undefined {
  const digits = typeof value === 'string' ? ADDRESS.exec(value)?.[1] : undefined;
  return digits && `0x${digits.padStart(64, '0')}`;
}

/**
 * Normalizes a Move path or type for comparison: removes whitespace, and pads each address before
 * `::` to `0x` and 64 lowercase hex digits.
 */
export const toMovePath = (path: string): string =>
  path
    .replace(/\s+/g, '')
    .replace(
      /\b0x([0-9a-fA-F]{1,64})(?=::)/g,
      (_, digits: string) => `0x${digits.toLowerCase().padStart(64, '0')}`,
    );

/** Shortens the special addresses `0x0` to `0xf` (AIP-40) in a normalized path. */
export const shortenMovePath = (path: string): string =>
  path.replace(/0x0{63}([0-9a-f])(?![0-9a-f])/g, '0x$1');
