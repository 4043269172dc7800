/**
 * Lists of addresses that share one index. Each list has a number in the index, and an owner. A list
 * is closed at once; its addresses are freed later, by `sweep`.
 */
import { TABLE_COUNT, createAddressIndex } from './addressIndex.ts';

export interface AddressList<Owner> {
  /** Number that identifies the list in the index. */
  readonly number: number;
  owner: Owner;
  /** Number of addresses in the list. */
  readonly count: number;
}

export interface AddressLists<Owner> {
  /** Number of addresses in all lists, and the size of their index in bytes. */
  readonly size: number;
  readonly sizeBytes: number;
  /** Announces how many additions follow, so that they require less resizing. */
  expect(additions: number): void;
  open(owner: Owner): AddressList<Owner>;
  close(list: AddressList<Owner>): void;
  isOpen(list: AddressList<Owner>): boolean;
  /** Adds packed addresses to an open list. Returns how many the list did not have. */
  add(list: AddressList<Owner>, addresses: Uint8Array): number;
  /** Removes packed addresses from an open list. Returns how many the list had. */
  remove(list: AddressList<Owner>, addresses: Uint8Array): number;
  /**
   * Finds the lists with the address whose hex digits start at `at` in `text`. Returns 0 if there
   * are none, which is the usual case, else a value for `visit`, which the next change invalidates.
   */
  find(text: string, at: number): number;
  /** Calls `visit` for each open list that `find` found; `found` may be 0. */
  visit(found: number, visit: (list: AddressList<Owner>) => void): void;
  /** Frees some addresses of closed lists; returns false once there are none left to free. */
  sweep(): boolean;
  /** Closes and frees all lists. */
  clear(): void;
}

/** @param addressBytes size of an address: 20 on EVM chains, 32 on Aptos */
export function createAddressLists<Owner>(addressBytes: 20 | 32): AddressLists<Owner> {
  type List = { -readonly [Name in keyof AddressList<Owner>]: AddressList<Owner>[Name] };
  /** Open lists by number. */
  const byNumber: (List | undefined)[] = [];
  const freeNumbers: number[] = [];
  let index = createAddressIndex(addressBytes);
  /**
   * Numbers of closed lists that still have addresses. The current sweep frees `swept`, and the
   * next one frees `leaving`.
   */
  let leaving = new Set<number>();
  let swept = new Set<number>();
  let nextTable = 0;

  return {
    get size() {
      return index.size;
    },
    get sizeBytes() {
      return index.sizeBytes;
    },
    expect: (additions) => index.expect(additions),
    open(owner) {
      const number = freeNumbers.pop() ?? byNumber.length;
      return (byNumber[number] = { number, owner, count: 0 });
    },
    close({ number, count }) {
      byNumber[number] = undefined;
      if (count > 0) leaving.add(number);
      else freeNumbers.push(number);
    },
    isOpen: (list) => byNumber[list.number] === list,
    add(list, addresses) {
      const added = index.add(addresses, list.number);
      (list as List).count += added;
      return added;
    },
    remove(list, addresses) {
      const removed = index.remove(addresses, list.number);
      (list as List).count -= removed;
      return removed;
    },
    find: (text, at) => index.find(text, at),
    visit(found, visit) {
      index.visit(found, (number) => {
        const list = byNumber[number];
        if (list !== undefined) visit(list);
      });
    },
    sweep() {
      if (nextTable === 0) {
        freeNumbers.push(...swept);
        swept = leaving;
        leaving = new Set();
        if (swept.size === 0) return false;
      }
      index.sweep(nextTable, (number) => swept.has(number));
      nextTable = (nextTable + 1) % TABLE_COUNT;
      return true;
    },
    clear() {
      byNumber.length = 0;
      freeNumbers.length = 0;
      leaving.clear();
      swept.clear();
      index = createAddressIndex(addressBytes);
    },
  };
}
