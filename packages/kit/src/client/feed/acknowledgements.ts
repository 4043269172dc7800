/** Sends the acknowledgements of a consumer in batches. */

/** Maximum number of positions per request. */
const MAX_BATCH = 1_000;
/** Number of acknowledgements that are sent without further delay. */
const FULL_BATCH = 500;
/** Maximum delay of an acknowledgement. */
const DELAY_MS = 100;

export interface Acknowledgements {
  /**
   * Adds a position to the next batch. Resolves when there is room for more; after the iteration,
   * when the position was sent. Rejects if the service permanently rejected a batch.
   *
   * @param leaseEndsAt when the lease of the delivery ends, by `performance.now()`
   */
  add(position: number, leaseEndsAt: number): Promise<void>;
  /** Returns whether a position was added, and a page that is still to be handled may have it. */
  has(position: number): boolean;
  /** Reports that the deliveries of the next page are handled from now on. */
  turnPage(): void;
  /** Sends what was not sent. Rejects if that fails. */
  close(): Promise<void>;
}

/**
 * @param send sends a batch. The signal of the iteration aborts it, unless the batch is one of the
 * last.
 * @param fail ends the iteration after a permanent failure
 */
export function createAcknowledgements(
  send: (positions: readonly number[], last: boolean) => Promise<unknown>,
  signal: AbortSignal,
  fail: () => void,
): Acknowledgements {
  const unsent = new Set<number>();
  // The page that is handled and the next one may have been read before an acknowledgement took
  // effect. So sent positions are kept for two turns of the page.
  let sent = new Set<number>();
  let sentBefore = new Set<number>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sending: Promise<void> | undefined;
  let failure: { error: unknown } | undefined;

  const sendBatch = async (last: boolean): Promise<void> => {
    const batch = [...unsent].slice(0, MAX_BATCH);
    await send(batch, last);
    for (const position of batch) {
      unsent.delete(position);
      sent.add(position);
    }
  };

  const start = (): void => {
    clearTimeout(timer);
    timer = undefined;
    sending ??= sendBatch(false)
      .catch((error: unknown) => {
        // An aborted batch is sent again at the end.
        if (signal.aborted) return;
        failure = { error };
        fail();
      })
      .finally(() => {
        sending = undefined;
        if (unsent.size > 0) schedule();
      });
  };

  const schedule = (): void => {
    if (signal.aborted) return;
    if (unsent.size >= FULL_BATCH) start();
    else timer ??= setTimeout(start, DELAY_MS);
  };

  const refuse = (): void => {
    if (failure !== undefined) throw failure.error;
  };

  const sendRest = async (): Promise<void> => {
    while (unsent.size > 0) await sendBatch(true);
  };

  return {
    async add(position, leaseEndsAt) {
      refuse();
      unsent.add(position);
      if (signal.aborted) return await sendRest();
      if (leaseEndsAt - performance.now() < 2 * DELAY_MS) start();
      else schedule();
      if (unsent.size >= MAX_BATCH) await sending;
      refuse();
    },
    has: (position) => unsent.has(position) || sent.has(position) || sentBefore.has(position),
    turnPage() {
      sentBefore = sent;
      sent = new Set();
    },
    async close() {
      clearTimeout(timer);
      await sending;
      refuse();
      await sendRest();
    },
  };
}
