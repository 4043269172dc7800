/**
 * A hash table of addresses with open addressing and linear probing. A slot contains the 32-bit
 * words of an address and a word for its owner, which is 0 while the slot is free.
 */

/** Reads the packed address at `from` into `key`. */
export function readBytes(key: Uint32Array, bytes: Uint8Array, from: number): void {
  for (let word = 0, at = from; word < key.length; word++, at += 4) {
    key[word] =
      (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
  }
}

/** Value of each hex digit, indexed by character code. */
const DIGITS = new Uint8Array(128);
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16);
  DIGITS[digit.charCodeAt(0)] = value;
  DIGITS[digit.toUpperCase().charCodeAt(0)] = value;
}

/** Reads the address whose hex digits start at `from` in `text` into `key`. */
export function readText(key: Uint32Array, text: string, from: number): void {
  for (let word = 0, at = from; word < key.length; word++) {
    let value = 0;
    for (const end = at + 8; at < end; at++) value = (value << 4) | DIGITS[text.charCodeAt(at)]!;
    key[word] = value;
  }
}

/**
 * Returns the Murmur3 hash of `count` words. It spreads addresses evenly, even if they share
 * digits.
 */
export function hashWords(words: Uint32Array, at: number, count: number): number {
  let hash = 0;
  for (let word = at; word < at + count; word++) {
    let mixed = Math.imul(words[word]!, 0xcc9e2d51);
    mixed = (mixed << 15) | (mixed >>> 17);
    hash ^= Math.imul(mixed, 0x1b873593);
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** Returns the position of the first slot to probe for a hash. Positions increase with the hash. */
const homeOf = (table: Uint32Array, slotWords: number, hash: number): number =>
  Math.floor(((hash >>> 0) / 2 ** 32) * (table.length / slotWords)) * slotWords;

function isKeyAt(table: Uint32Array, at: number, key: Uint32Array, addressWords: number): boolean {
  for (let word = 0; word < addressWords; word++) if (table[at + word] !== key[word]) return false;
  return true;
}

/**
 * Returns the position of the key's slot, or of the free slot for it. At least one slot of the
 * table must be free.
 */
export function findSlot(table: Uint32Array, key: Uint32Array, hash: number): number {
  const addressWords = key.length;
  const slotWords = addressWords + 1;
  let at = homeOf(table, slotWords, hash);
  while (table[at + addressWords] !== 0 && !isKeyAt(table, at, key, addressWords)) {
    at += slotWords;
    if (at === table.length) at = 0;
  }
  return at;
}

/** Copies the used slots to an empty table that has enough space. */
export function copySlots(from: Uint32Array, to: Uint32Array, addressWords: number): void {
  const slotWords = addressWords + 1;
  for (let at = 0; at < from.length; at += slotWords) {
    if (from[at + addressWords] === 0) continue;
    let free = homeOf(to, slotWords, hashWords(from, at, addressWords));
    while (to[free + addressWords] !== 0) {
      free += slotWords;
      if (free === to.length) free = 0;
    }
    for (let word = 0; word < slotWords; word++) to[free + word] = from[at + word]!;
  }
}

/**
 * Frees a slot, and moves entries that probed past it into the gap, so that no tombstones are
 * needed.
 */
export function freeSlot(table: Uint32Array, slot: number, addressWords: number): void {
  const slotWords = addressWords + 1;
  let gap = slot;
  for (let at = gap; ;) {
    at += slotWords;
    if (at === table.length) at = 0;
    if (table[at + addressWords] === 0) break;
    const home = homeOf(table, slotWords, hashWords(table, at, addressWords));
    const stays = gap <= at ? gap < home && home <= at : gap < home || home <= at;
    if (stays) continue;
    table.copyWithin(gap, at, at + slotWords);
    gap = at;
  }
  table[gap + addressWords] = 0;
}
