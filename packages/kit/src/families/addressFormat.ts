/** How a chain family writes addresses in lists. */
export interface AddressFormat {
  /** Returns the address in lowercase with all leading zeros; undefined for any other value. */
  toAddress(value: unknown): string | undefined;
  /** Number of hex digits, for messages. */
  readonly digits: string;
  /** Returns why a valid address may be a mistake; undefined if it looks correct. */
  doubtOf(given: string, address: string): string | undefined;
}
