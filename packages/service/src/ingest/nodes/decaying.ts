/** A sum that halves with every half-life, so older amounts count less. */
export interface Decaying {
  add(amount: number): void;
  read(): number;
}

export function createDecaying(halfLifeMs: number): Decaying {
  let value = 0;
  let at = 0;
  const read = (): number => value * 2 ** (-(performance.now() - at) / halfLifeMs);
  return {
    add(amount) {
      value = read() + amount;
      at = performance.now();
    },
    read,
  };
}
