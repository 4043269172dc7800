/**
 * Finds the streams that watch an address. Streams are small integers. An (address, stream) entry
 * takes 36 bytes on average for a 20-byte address, and 54 for a 32-byte one. An address of several
 * streams takes 8 more bytes for each of them.
 * - The hashes are divided among 1,024 tables (`addressSlots.ts`), so that growing a table copies
 *   only a thousandth of the entries. A table grows by a quarter, or by more while many additions
 *   are expected.
 * - An address of several streams takes one slot, which refers to a list of the streams
 *   (`streamLists.ts`).
 */
import { copySlots, findSlot, freeSlot, hashWords, readBytes, readText } from './addressSlots.ts';
import { createStreamLists } from './streamLists.ts';

export interface AddressIndex {
  /** Number of (address, stream) entries. */
  readonly size: number;
  /** Size of the typed arrays in bytes. */
  readonly sizeBytes: number;
  /** Announces how many additions follow, so that tables are resized less often. */
  expect(additions: number): void;
  /**
   * Adds packed addresses to a stream. Returns the number of addresses that the stream did not
   * have.
   */
  add(addresses: Uint8Array, stream: number): number;
  /**
   * Removes packed addresses from a stream. Returns the number of addresses that the stream had.
   */
  remove(addresses: Uint8Array, stream: number): number;
  /**
   * Finds the streams that watch the address whose hex digits start at `at` in `text`. Returns 0 if
   * there are none, else a value for `visit`, which the next change invalidates.
   */
  find(text: string, at: number): number;
  /** Calls `visit` for each stream that `find` found; `found` may be 0. */
  visit(found: number, visit: (stream: number) => void): void;
  /**
   * Removes the entries of the streams for which `isGone` returns true, from one of the
   * {@link TABLE_COUNT} tables.
   */
  sweep(table: number, isGone: (stream: number) => boolean): void;
}

export const TABLE_COUNT = 1024;

/**
 * The owner word of a slot is 0 if the slot is free, a stream plus 1, or this bit plus the number
 * of a stream list.
 */
const IS_LIST = 0x8000_0000;
const MAX_LOAD = 0.75;
const GROWTH = 1.25;
/**
 * Maximum growth factor of one resize; limited because the expected addresses may already be in the
 * index.
 */
const EXPECTED_GROWTH = 4;
const SMALLEST = 4;
/**
 * Minimum number of levels by which a table must be too large before it shrinks, so that it does
 * not grow again soon.
 */
const SLACK_LEVELS = 3;

const NONE = new Uint32Array(0);

/**
 * Returns the number of slots of a table at a level. It differs between tables, so that they do not
 * all grow at the same time.
 */
const capacityAt = (table: number, level: number): number =>
  Math.ceil(SMALLEST * GROWTH ** (level + table / TABLE_COUNT));
/** Returns the number of entries that a table can hold at a level. */
const holds = (table: number, level: number): number => capacityAt(table, level) * MAX_LOAD;

/**
 * Returns the next level of a full table, or a higher level for its share of the expected
 * additions.
 */
function growLevel(table: number, level: number, used: number, expected: number): number {
  const share = expected / TABLE_COUNT;
  // The actual share deviates from the mean by about the square root of the mean.
  const needed = Math.min(used * EXPECTED_GROWTH, used + share + Math.sqrt(share));
  let grown = level + 1;
  while (holds(table, grown) < needed) grown++;
  return grown;
}

/**
 * Returns the level of a table after removals: the current level unless it is much too large; -1
 * for an empty table.
 */
function shrinkLevel(table: number, level: number, used: number): number {
  if (used === 0) return -1;
  if (level <= SLACK_LEVELS || used >= holds(table, level - SLACK_LEVELS)) return level;
  let shrunk = level;
  while (shrunk > 0 && used < holds(table, shrunk - 1)) shrunk--;
  return shrunk;
}

/** @param addressBytes size of an address: 20 on EVM chains, 32 on Aptos */
export function createAddressIndex(addressBytes: 20 | 32): AddressIndex {
  /** Number of words in an address, and position of the owner word, which follows them. */
  const OWNER = addressBytes / Uint32Array.BYTES_PER_ELEMENT;
  const SLOT_WORDS = OWNER + 1;
  const SLOT_BYTES = SLOT_WORDS * Uint32Array.BYTES_PER_ELEMENT;
  const tables: Uint32Array[] = Array.from({ length: TABLE_COUNT }, () => NONE);
  /** Number of used slots and level of each table. */
  const used = new Uint32Array(TABLE_COUNT);
  const levels = new Int32Array(TABLE_COUNT).fill(-1);
  let slots = 0;
  let size = 0;
  /** Number of announced additions that are still to come. */
  let expected = 0;
  const lists = createStreamLists();
  /** Words of the address that the current call processes. */
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
    const number = hash & (TABLE_COUNT - 1);
    let table = tables[number]!;
    if (used[number]! + 1 > (table.length / SLOT_WORDS) * MAX_LOAD) {
      resize(number, growLevel(number, levels[number]!, used[number]!, expected));
      table = tables[number]!;
    }
    const at = findSlot(table, key, hash);
    const owner = table[at + OWNER]!;
    if (owner === 0) {
      // A loop is faster than `set` for a few words.
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

  /**
   * Removes streams from a list. Returns the new owner word of the slot; 0 if no stream is left.
   */
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
    const number = hash & (TABLE_COUNT - 1);
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
    find(text, from) {
      readText(key, text, from);
      const hash = hashWords(key, 0, OWNER);
      const table = tables[hash & (TABLE_COUNT - 1)]!;
      return table.length === 0 ? 0 : table[findSlot(table, key, hash) + OWNER]!;
    },
    visit(owner, visit) {
      if (owner === 0) return;
      if (owner < IS_LIST) visit(owner - 1);
      else lists.visit(owner - IS_LIST, visit);
    },
    sweep(number, isGone) {
      const table = tables[number]!;
      for (let at = 0; at < table.length; at += SLOT_WORDS) {
        // Freeing a slot may move another entry into it, so the same slot is checked again.
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
