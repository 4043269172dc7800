/** Derives the 20 pseudo-random bytes of an address from a number (SplitMix32). */
export function addressBytes(n: number): Uint8Array {
  const words = new Uint32Array(5);
  for (let word = 0; word < 5; word++) {
    let mixed = Math.imul(n, 5) + word + 0x9e37_79b9;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85eb_ca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
    words[word] = mixed ^ (mixed >>> 16);
  }
  return new Uint8Array(words.buffer);
}
