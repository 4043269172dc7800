/**
 * Finds the streams that watch an address. An (address, stream) entry takes 36 bytes of typed arrays on
 * average for a 20-byte address (54 for a 32-byte one), and each further stream of an address 8 more.
 * Streams are small integers here.
 *
 * - There are 1,024 tables (`addressSlots.ts`), each for its part of the hashes, so that growing one
 *   copies a thousandth of the entries. They grow by a quarter, at different times: on average an added
 *   address moves four others, and no single addition moves all. Tables that emptied shrink.
 * - An address of several streams takes one slot, which holds a list of them (`streamLists.ts`).
 */
import { copySlots, findSlot, freeSlot, hashWords, readBytes, readText } from './addressSlots.ts';
import { createStreamLists } from './streamLists.ts';

export interface AddressIndex {
  /** (address, stream) entries. */
  readonly size: number;
  /** Bytes of the typed arrays that hold them. */
  readonly sizeBytes: number;
  /** Adds packed addresses to a stream; returns how many were new to it. */
  add(addresses: Uint8Array, stream: number): number;
  /** Removes addresses from a stream; returns how many it had. */
  remove(addresses: Uint8Array, stream: number): number;
  /** Calls `visit` for each stream that watches the address whose hex digits start at `at`. */
  visit(text: string, at: number, visit: (stream: number) => void): void;
  /** Removes every entry of the streams that `isGone`, in one of the {@link TABLES} tables. */
  sweep(table: number, isGone: (stream: number) => boolean): void;
}

export const TABLES = 1024;

/** The owner of a slot is 0 for none, a stream + 1, or this bit and a list of streams. */
const IS_LIST = 0x8000_0000;
const MAX_LOAD = 0.75;
const GROWTH = 1.25;
const SMALLEST = 4;
/** Levels a table is too large by before it shrinks, so that it does not go to and fro. */
const SLACK_LEVELS = 3;

const NONE = new Uint32Array(0);

/** Slots of a table that has grown so often; tables of one level differ, so that they grow one by one. */
const capacityAt = (table: number, level: number): number =>
  Math.ceil(SMALLEST * GROWTH ** (level + table / TABLES));

/** @param addressBytes of each address: 20 on EVM chains, 32 on Aptos */
export function createAddressIndex(addressBytes: 20 | 32 = 20): AddressIndex {
  /** Words of an address; the owner of a slot comes after them. */
  const OWNER = addressBytes / Uint32Array.BYTES_PER_ELEMENT;
  const SLOT_WORDS = OWNER + 1;
  const SLOT_BYTES = SLOT_WORDS * Uint32Array.BYTES_PER_ELEMENT;
  const tables: Uint32Array[] = Array.from({ length: TABLES }, () => NONE);
  /** Slots in use, and how often each table has grown. */
  const used = new Uint32Array(TABLES);
  const levels = new Int32Array(TABLES).fill(-1);
  let slots = 0;
  let size = 0;
  const lists = createStreamLists();
  /** The address under way. */
  const key = new Uint32Array(OWNER);

  const resize = (number: number, level: number): void => {
    const from = tables[number]!;
    const to = level < 0 ? NONE : new Uint32Array(capacityAt(number, level) * SLOT_WORDS);
    slots += (to.length - from.length) / SLOT_WORDS;
    tables[number] = to;
    levels[number] = level;
    copySlots(from, to, OWNER);
  };

  const shrink = (number: number): void => {
    let level = levels[number]!;
    const holds = (it: number): number => capacityAt(number, it) * MAX_LOAD;
    if (used[number] === 0) resize(number, -1);
    else if (level > SLACK_LEVELS && used[number]! < holds(level - SLACK_LEVELS)) {
      while (level > 0 && used[number]! < holds(level - 1)) level--;
      resize(number, level);
    }
  };

  const empty = (number: number, slot: number): void => {
    freeSlot(tables[number]!, slot, OWNER);
    used[number]!--;
  };

  const addKey = (stream: number): boolean => {
    const hash = hashWords(key, 0, OWNER);
    const number = hash & (TABLES - 1);
    let table = tables[number]!;
    if (used[number]! + 1 > (table.length / SLOT_WORDS) * MAX_LOAD) {
      resize(number, levels[number]! + 1);
      table = tables[number]!;
    }
    const at = findSlot(table, key, hash);
    const owner = table[at + OWNER]!;
    if (owner === 0) {
      table.set(key, at);
      table[at + OWNER] = stream + 1;
      used[number]!++;
    } else if (owner < IS_LIST) {
      if (owner === stream + 1) return false;
      table[at + OWNER] = IS_LIST + lists.push(stream, lists.push(owner - 1, undefined));
    } else {
      if (lists.has(owner - IS_LIST, stream)) return false;
      table[at + OWNER] = IS_LIST + lists.push(stream, owner - IS_LIST);
    }
    size++;
    return true;
  };

  /** Removes streams from a list, and returns the owner that is left: 0 for none. */
  const filterList = (head: number, isGone: (stream: number) => boolean): number => {
    const kept = lists.filter(head, isGone, () => size--);
    if (kept === undefined) return 0;
    const only = lists.only(kept);
    if (only === undefined) return IS_LIST + kept;
    lists.free(kept);
    return only + 1;
  };

  const removeKey = (stream: number): boolean => {
    const hash = hashWords(key, 0, OWNER);
    const number = hash & (TABLES - 1);
    const table = tables[number]!;
    if (table.length === 0) return false;
    const at = findSlot(table, key, hash);
    const owner = table[at + OWNER]!;
    const before = size;
    if (owner === stream + 1) {
      size--;
      empty(number, at);
      shrink(number);
    } else if (owner >= IS_LIST) {
      table[at + OWNER] = filterList(owner - IS_LIST, (each) => each === stream);
    }
    return size < before;
  };

  const countKeys = (
    addresses: Uint8Array,
    stream: number,
    each: (stream: number) => boolean,
  ): number => {
    let count = 0;
    for (let at = 0; at < addresses.length; at += addressBytes) {
      readBytes(key, addresses, at);
      if (each(stream)) count++;
    }
    return count;
  };

  return {
    get size() {
      return size;
    },
    get sizeBytes() {
      return slots * SLOT_BYTES + lists.sizeBytes;
    },
    add: (addresses, stream) => countKeys(addresses, stream, addKey),
    remove: (addresses, stream) => countKeys(addresses, stream, removeKey),
    visit(text, from, visit) {
      readText(key, text, from);
      const hash = hashWords(key, 0, OWNER);
      const table = tables[hash & (TABLES - 1)]!;
      if (table.length === 0) return;
      const owner = table[findSlot(table, key, hash) + OWNER]!;
      if (owner === 0) return;
      if (owner < IS_LIST) visit(owner - 1);
      else lists.visit(owner - IS_LIST, visit);
    },
    sweep(number, isGone) {
      const table = tables[number]!;
      for (let at = 0; at < table.length; at += SLOT_WORDS) {
        // Emptying a slot may move another into it, which is looked at in its turn.
        for (let owner = table[at + OWNER]!; owner !== 0; owner = table[at + OWNER]!) {
          const left =
            owner >= IS_LIST ? filterList(owner - IS_LIST, isGone) : isGone(owner - 1) ? 0 : owner;
          if (left !== 0) {
            table[at + OWNER] = left;
            break;
          }
          if (owner < IS_LIST) size--;
          empty(number, at);
        }
      }
      if (table.length > 0) shrink(number);
    },
  };
}
