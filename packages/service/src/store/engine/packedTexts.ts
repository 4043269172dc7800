/**
 * Texts as bytes that lie together. On their way from thread to thread many small ones are copied as one,
 * and wherever they are, no collection of young objects copies them again.
 */

/** What one text that is held long keeps of the others' memory, at most. */
const SLAB_BYTES = 64 * 1024;

/** The UTF-8 of each text. Those that are smaller share memory. */
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

/** As many texts from here on as a slab holds, and at least one. */
function slabBytes(sizes: readonly number[], first: number): number {
  let bytes = sizes[first]!;
  for (let n = first + 1; n < sizes.length && bytes + sizes[n]! <= SLAB_BYTES; n++) {
    bytes += sizes[n]!;
  }
  return bytes;
}
