/**
 * Normalizes chain ids. This file is separate from the table in `evmChains.ts`, which clients do
 * not need.
 */

/**
 * Returns the canonical form of a chain id: lowercase hex without leading zeros. Like the official
 * client, accepts hex (`0x89`, `0X089`), a positive number, or a decimal string. Returns undefined
 * for anything else.
 */
export function toChainId(value: unknown): string | undefined {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value > 0 ? `0x${value.toString(16)}` : undefined;
  }
  if (typeof value !== 'string' || value.length > 66) return undefined;
  if (!/^(0[xX][0-9a-fA-F]+|[0-9]+)$/.test(value)) return undefined;
  const number = BigInt(value.toLowerCase());
  return number > 0n ? `0x${number.toString(16)}` : undefined;
}
