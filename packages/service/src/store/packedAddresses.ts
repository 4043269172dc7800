/**
 * Lists of addresses as bytes, one address after the other: 20 bytes each on EVM chains, 32 on Aptos.
 * A million of them as texts would be a million objects to make, to copy between threads and to forget.
 */
import type { AddressList } from './store.ts';

const DIGIT_VALUES = 65_536;
/** Addresses handled between two turns of the event loop. */
const STEP = 100_000;

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

/** Of two addresses at these places: negative, 0 or positive, as the first is less, the same or more. */
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
 * The addresses in order, each once: neighbours stand together in the ledger, so a batch of them
 * touches few of its pages. By radix, in steps that leave the event loop room.
 */
export async function sortAddresses(list: AddressList): Promise<AddressList> {
  const { width, bytes } = list;
  const count = countAddresses(list);
  let order = Uint32Array.from({ length: count }, (_, n) => n);
  let target = new Uint32Array(count);
  for (let at = width - 2; at >= 0 && count > 1; at -= 2) {
    const valueOf = (n: number): number =>
      (bytes[n * width + at]! << 8) | bytes[n * width + at + 1]!;
    const starts = new Uint32Array(DIGIT_VALUES + 1);
    await inSteps(count, (n) => starts[valueOf(n) + 1]!++);
    for (let value = 0; value < DIGIT_VALUES; value++) starts[value + 1]! += starts[value]!;
    await inSteps(count, (n) => {
      const address = order[n]!;
      target[starts[valueOf(address)]!++] = address;
    });
    [order, target] = [target, order];
  }
  const sorted = new Uint8Array(bytes.length);
  let length = 0;
  await inSteps(count, (n) => {
    if (n > 0 && compareAt(list, order[n]!, list, order[n - 1]!) === 0) return;
    const at = order[n]! * width;
    sorted.set(bytes.subarray(at, at + width), length);
    length += width;
  });
  return { width, bytes: sorted.subarray(0, length) };
}

async function inSteps(count: number, each: (n: number) => void): Promise<void> {
  for (let start = 0; start < count; start += STEP) {
    if (start > 0) await new Promise(setImmediate);
    for (let n = start; n < Math.min(count, start + STEP); n++) each(n);
  }
}
