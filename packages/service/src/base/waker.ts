/** A loop sleeps between its turns; whatever gives it something to do wakes it. */
export interface Waker {
  /** Ends the sleep there is, or else the next one as it begins. */
  wake(this: void): void;
  /** Until it is woken, for so many milliseconds at most. */
  sleep(ms: number): Promise<void>;
}

export function createWaker(): Waker {
  let woken = Promise.withResolvers<void>();
  return {
    wake: () => woken.resolve(),
    async sleep(ms) {
      const timer = setTimeout(woken.resolve, ms);
      await woken.promise;
      clearTimeout(timer);
      woken = Promise.withResolvers();
    },
  };
}
