const BEYOND_ASCII = /[\u0080-\uffff]/;

/**
 * Returns the size of a string in UTF-8, in bytes. ASCII strings are not encoded, to avoid a copy.
 */
export function sizeOf(text: string): number {
  return BEYOND_ASCII.test(text) ? new TextEncoder().encode(text).length : text.length;
}
