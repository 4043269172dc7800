/**
 * Finds the streams, as small integers, that watch an address. An (address, stream) entry takes 36
 * bytes on average for a 20-byte address and 54 for a 32-byte one; each further stream of an
 * address takes 8 more.
 * - Each of 1,024 tables (`addressSlots.ts`) has a part of the hashes, so that growing one copies a
 * thousandth of the entries. Tables grow by a quarter, at different times, or faster while many
 * additions are expected.
 * - An address of several streams takes one slot with a list of the streams (`streamLists.ts`).
 */
import { copySlots, findSlot, freeSlot, hashWords, readBytes, readText } from './addressSlots.ts';
import { createStreamLists } from './streamLists.ts';

export interface AddressIndex {
  /** Number of (address, stream) entries. */
  readonly size: number;
  /** Size of their typed arrays in bytes. */
  readonly sizeBytes: number;
  /** Announces this number of additions, so that fewer entries are moved for them. */
  expect(additions: number): void;
  /** Adds packed addresses to a stream; returns the number of new ones. */
  add(addresses: Uint8Array, stream: number): number;
  /** Removes addresses from a stream; returns the number of removed ones. */
  remove(addresses: Uint8Array, stream: number): number;
  /** Calls `visit` for each stream that watches the address whose hex digits start at `at`. */
  visit(text: string, at: number, visit: (stream: number) => void): void;
  /** Removes every entry of the streams that `isGone`, in one of the {@link TABLES} tables. */
  sweep(table: number, isGone: (stream: number) => boolean): void;
}

export const TABLES = 1024;

/** The owner of a slot is 0 for none, a stream + 1, or this bit and the number of a stream list. */
const IS_LIST = 0x8000_0000;
const MAX_LOAD = 0.75;
const GROWTH = 1.25;
/** Maximum growth at once, because expected additions may be known addresses. */
const EXPECTED_GROWTH = 4;
const SMALLEST = 4;
/** Number of surplus levels before a table shrinks, so that it does not oscillate. */
const SLACK_LEVELS = 3;

const NONE = new Uint32Array(0);

/**
 * Returns the slots of a table at a level. Tables of the same level differ, so that they do not
 * grow at once.
 */
const capacityAt = (table: number, level: number): number =>
  Math.ceil(SMALLEST * GROWTH ** (level + table / TABLES));
/** Returns the number of entries that a table can hold at a level. */
const holds = (table: number, level: number): number => capacityAt(table, level) * MAX_LOAD;

/** Returns the next level of a full table, or a higher one for its share of expected additions. */
function growLevel(table: number, level: number, used: number, expected: number): number {
  const share = expected / TABLES;
  // Random shares deviate from the mean by their square root.
  const needed = Math.min(used * EXPECTED_GROWTH, used + share + Math.sqrt(share));
  let grown = level + 1;
  while (holds(table, grown) < needed) grown++;
  return grown;
}

/** Returns the level of a table after removals: the same, unless it is much too large. */
function shrinkLevel(table: number, level: number, used: number): number {
  if (used === 0) return -1;
  if (level <= SLACK_LEVELS || used >= holds(table, level - SLACK_LEVELS)) return level;
  let shrunk = level;
  while (shrunk > 0 && used < holds(table, shrunk - 1)) shrunk--;
  return shrunk;
}

/** @param addressBytes size of an address: 20 on EVM chains, 32 on Aptos */
export function createAddressIndex(addressBytes: 20 | 32 = 20): AddressIndex {
  /** Number of words in an address. The owner of a slot follows them. */
  const OWNER = addressBytes / Uint32Array.BYTES_PER_ELEMENT;
  const SLOT_WORDS = OWNER + 1;
  const SLOT_BYTES = SLOT_WORDS * Uint32Array.BYTES_PER_ELEMENT;
  const tables: Uint32Array[] = Array.from({ length: TABLES }, () => NONE);
  /** Number of used slots and level of each table. */
  const used = new Uint32Array(TABLES);
  const levels = new Int32Array(TABLES).fill(-1);
  let slots = 0;
  let size = 0;
  /** Number of expected additions. */
  let expected = 0;
  const lists = createStreamLists();
  /** The current address. */
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
    const level = shrinkLevel(number, levels[number]!, used[number]!);
    if (level !== levels[number]) resize(number, level);
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
      resize(number, growLevel(number, levels[number]!, used[number]!, expected));
      table = tables[number]!;
    }
    const at = findSlot(table, key, hash);
    const owner = table[at + OWNER]!;
    if (owner === 0) {
      // Takes less time than `set` for so few words.
      for (let word = 0; word < OWNER; word++) table[at + word] = key[word]!;
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

  /** Removes streams from a list and returns the remaining owner; 0 for none. */
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
    expect(additions) {
      expected = additions;
    },
    add(addresses, stream) {
      expected = Math.max(0, expected - addresses.length / addressBytes);
      return countKeys(addresses, stream, addKey);
    },
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
        // Emptying a slot may move another one into it, which is checked next.
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
