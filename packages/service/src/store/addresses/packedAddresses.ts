/**
 * Lists of addresses as concatenated bytes: 20 bytes per address on EVM chains, 32 on Aptos. As
 * strings, a million addresses would be a million objects to create, copy between threads and free.
 */
import type { AddressList } from './contract.ts';

/** Number of addresses to process before yielding to the event loop. */
const STEP = 50_000;
/** Maximum number of addresses in a range that is sorted by comparison instead of by radix. */
const FEW = 32;

export function packAddresses(
  addresses: readonly string[],
  width: AddressList['width'] = 20,
): AddressList {
  return { width, bytes: fromDigits(addresses.map((address) => address.slice(2)).join('')) };
}

export function unpackAddresses({ width, bytes }: AddressList): string[] {
  const digits = toDigits(bytes);
  return Array.from(
    { length: bytes.length / width },
    (_, n) => `0x${digits.slice(n * width * 2, (n + 1) * width * 2)}`,
  );
}

export const countAddresses = ({ width, bytes }: AddressList): number => bytes.length / width;

export const sliceAddresses = (
  { width, bytes }: AddressList,
  start: number,
  end: number,
): AddressList => ({ width, bytes: bytes.slice(start * width, end * width) });

export const toDigits = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');

export const fromDigits = (digits: string): Uint8Array => Buffer.from(digits, 'hex');

/**
 * Compares the address at `at` with the address at `otherAt` of another list. Returns a negative
 * number if the first is less than the second, 0 if they are equal, and a positive number
 * otherwise.
 */
export function compareAt(
  { width, bytes }: AddressList,
  at: number,
  others: AddressList,
  otherAt: number,
): number {
  for (let n = 0; n < width; n++) {
    const difference = bytes[at * width + n]! - others.bytes[otherAt * width + n]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * Sorts and deduplicates addresses, and yields to the event loop regularly. Sorted batches touch
 * fewer pages of the ledger.
 */
export async function sortAddresses(list: AddressList): Promise<AddressList> {
  const { width, bytes } = list;
  const count = countAddresses(list);
  const order = new Uint32Array(count);
  const scratch = new Uint32Array(count);
  let work = 0;
  const breathe = async (done: number): Promise<void> => {
    work += done;
    if (work < STEP) return;
    work = 0;
    await new Promise(setImmediate);
  };
  const compare = (a: number, b: number): number => compareAt(list, a, list, b);
  /**
   * Splits a range into steps of at most `STEP` addresses, and lets other tasks run between them.
   */
  async function* stepsOf(start: number, end: number): AsyncGenerator<[from: number, to: number]> {
    for (let from = start; from < end; from += STEP) {
      const to = Math.min(from + STEP, end);
      yield [from, to];
      await breathe(to - from);
    }
  }

  /** Sorts a range of `order` whose addresses have the same first `at` bytes. */
  const sortRange = async (start: number, end: number, at: number): Promise<void> => {
    if (end - start <= FEW || at === width) {
      if (at < width) order.subarray(start, end).sort(compare);
      await breathe(end - start);
      return;
    }
    // For each byte value, the next free position in `scratch`. The last entry is the end of the
    // range.
    const next = new Uint32Array(257).fill(start);
    for await (const [from, to] of stepsOf(start, end)) {
      for (let n = from; n < to; n++) next[bytes[order[n]! * width + at]! + 1]!++;
    }
    for (let value = 1, sum = start; value < 257; value++) {
      sum += next[value]! - start;
      next[value] = sum;
    }
    for await (const [from, to] of stepsOf(start, end)) {
      for (let n = from; n < to; n++) {
        const address = order[n]!;
        scratch[next[bytes[address * width + at]!]!++] = address;
      }
    }
    order.set(scratch.subarray(start, end), start);
    for (let value = 0, from = start; value < 256; from = next[value++]!) {
      if (next[value]! - from > 1) await sortRange(from, next[value]!, at + 1);
    }
  };
  for await (const [from, to] of stepsOf(0, count)) for (let n = from; n < to; n++) order[n] = n;
  await sortRange(0, count, 0);

  const sorted = new Uint8Array(bytes.length);
  let length = 0;
  for await (const [from, to] of stepsOf(0, count)) {
    for (let n = from; n < to; n++) {
      if (n > 0 && compare(order[n]!, order[n - 1]!) === 0) continue;
      for (let at = order[n]! * width, end = at + width; at < end; at++)
        sorted[length++] = bytes[at]!;
    }
  }
  return { width, bytes: sorted.subarray(0, length) };
}
