/**
 * Packs strings into shared buffers. Threads exchange one buffer instead of many small strings, and
 * garbage collection does not copy the strings again.
 */

/**
 * Maximum size of a buffer that several strings share. A retained string keeps its entire buffer in
 * memory.
 */
const SLAB_BYTES = 64 * 1024;

/** Encodes each string as UTF-8. Small strings share a buffer. */
export function packTexts(texts: readonly string[]): Uint8Array[] {
  const sizes = texts.map((text) => Buffer.byteLength(text));
  let slab = new ArrayBuffer(0);
  let at = 0;
  return texts.map((text, n) => {
    const size = sizes[n]!;
    if (at >= SLAB_BYTES || at + size > slab.byteLength) {
      slab = new ArrayBuffer(slabBytes(sizes, n));
      at = 0;
    }
    const packed = Buffer.from(slab, at, size);
    packed.write(text);
    at += size;
    return packed;
  });
}

/** Returns the total size of the next strings that fit into a slab; includes at least one. */
function slabBytes(sizes: readonly number[], first: number): number {
  let bytes = sizes[first]!;
  for (let n = first + 1; n < sizes.length && bytes + sizes[n]! <= SLAB_BYTES; n++) {
    bytes += sizes[n]!;
  }
  return bytes;
}
