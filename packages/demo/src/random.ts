/** Chance that is the same on every run. */
export interface Random {
  /** From 0 up to 1. */
  next(): number;
  /** A whole number below this one. */
  below(limit: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** `0x` and that many bytes. */
  hex(bytes: number): `0x${string}`;
}

/** Mulberry32: 32 bits of state, good enough for what only has to look right. */
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
