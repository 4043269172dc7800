/** Sleep between the turns of a loop, which `wake` ends early. */
export interface Waker {
  /** Ends the current sleep, or the next one if no loop is sleeping. */
  wake(this: void): void;
  /** Sleeps until woken, or until `ms` have passed. */
  sleep(ms: number): Promise<void>;
}

export function createWaker(): Waker {
  let woken = Promise.withResolvers<void>();
  return {
    wake: () => woken.resolve(),
    async sleep(ms) {
      const timer = setTimeout(woken.resolve, Math.max(0, ms));
      await woken.promise;
      clearTimeout(timer);
      woken = Promise.withResolvers();
    },
  };
}
