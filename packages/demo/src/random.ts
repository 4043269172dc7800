/** Pseudo-random values that are the same for the same seed. */
export interface Random {
  /** Returns a number from 0 up to, but not including, 1. */
  next(): number;
  /** Returns a whole number from 0 up to, but not including, `limit`. */
  below(limit: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** Returns the given number of random bytes in hex, with the prefix `0x`. */
  hex(bytes: number): `0x${string}`;
}

/** Creates a Mulberry32 generator. Its 32 bits of state are sufficient for sample data. */
export function createRandom(seed: number): Random {
  let state = seed;
  const word = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const next = (): number => word() / 2 ** 32;
  return {
    next,
    below: (limit) => Math.floor(next() * limit),
    pick: (items) => items[Math.floor(next() * items.length)]!,
    hex(bytes) {
      let digits = '';
      while (digits.length < bytes * 2) digits += word().toString(16).padStart(8, '0');
      return `0x${digits.slice(0, bytes * 2)}`;
    },
  };
}
