/**
 * Who watches an address: a hash table of (address, stream) entries in typed arrays, 36 bytes for a
 * 20-byte address of one stream on average (54 for one of 32) and 8 more for each further stream,
 * however many addresses there are. Streams are small whole numbers here.
 *
 * - 1,024 tables, each with its own part of the hashes, so that growing one copies a thousandth of the
 *   whole. They grow by a quarter, each at a moment of its own: an address that is added pays for about
 *   four that are moved, and no moment pays for all.
 * - Open addressing with linear probing. Removing closes the gap by moving what probed past it, so
 *   there are no tombstones, and tables that emptied shrink.
 * - An address of several streams holds the head of a chain of nodes, 8 bytes each: an address that a
 *   hundred thousand streams watch takes one slot.
 */

export interface AddressIndex {
  /** (address, stream) entries. */
  readonly size: number;
  /** Bytes of the typed arrays that hold them. */
  readonly sizeBytes: number;
  /** Adds addresses, packed one after the other, for a stream; answers with how many were new to it. */
  add(addresses: Uint8Array, stream: number): number;
  /** Removes addresses of a stream; answers with how many it had. */
  remove(addresses: Uint8Array, stream: number): number;
  /** Calls `visit` for each stream that watches the address whose hex digits stand at `at`. */
  visit(text: string, at: number, visit: (stream: number) => void): void;
  /** Removes every entry of the streams that `isGone`, in one of the {@link TABLES} tables. */
  sweep(table: number, isGone: (stream: number) => boolean): void;
}

export const TABLES = 1024;

/**
 * A slot is the words of an address and one that says whose: 0 for nobody's, a stream + 1, or a node
 * with this bit.
 */
const IS_NODE = 0x8000_0000;
const MAX_LOAD = 0.75;
const GROWTH = 1.25;
const SMALLEST = 4;
/** Levels a table is too large by before it shrinks, so that it does not go to and fro. */
const SLACK_LEVELS = 3;

const NODES_PER_SEGMENT = 1 << 13;
const NODE_WORDS = 2;
const NONE = new Uint32Array(0);

/** Slots of a table that has grown so often; tables of one level differ, so that they grow one by one. */
const capacityAt = (table: number, level: number): number =>
  Math.ceil(SMALLEST * GROWTH ** (level + table / TABLES));

/** @param addressBytes of each address: 20 on EVM chains, 32 on Aptos */
export function createAddressIndex(addressBytes: 20 | 32 = 20): AddressIndex {
  /** Where a slot says whose it is: after the words of the address. */
  const OWNER = addressBytes / Uint32Array.BYTES_PER_ELEMENT;
  const SLOT_WORDS = OWNER + 1;
  const SLOT_BYTES = SLOT_WORDS * Uint32Array.BYTES_PER_ELEMENT;
  const tables: Uint32Array[] = Array.from({ length: TABLES }, () => NONE);
  /** Slots in use, and how often each table has grown. */
  const used = new Uint32Array(TABLES);
  const levels = new Int32Array(TABLES).fill(-1);
  let slots = 0;
  let size = 0;
  const chains = createChains();
  /** The address under way. */
  const key = new Uint32Array(OWNER);

  const isKeyAt = (table: Uint32Array, at: number): boolean => {
    for (let word = 0; word < OWNER; word++) if (table[at + word] !== key[word]) return false;
    return true;
  };

  /** The slot a hash belongs in: its place in its table is its place among all hashes. */
  const homeOf = (table: Uint32Array, hash: number): number =>
    Math.floor(((hash >>> 0) / 2 ** 32) * (table.length / SLOT_WORDS)) * SLOT_WORDS;

  /** Murmur3 of the words at `at`; vanity addresses differ in few of their digits. */
  const hashAt = (words: Uint32Array, at: number): number => {
    let hash = 0;
    for (let word = at; word < at + OWNER; word++) {
      let mixed = Math.imul(words[word]!, 0xcc9e2d51);
      mixed = (mixed << 15) | (mixed >>> 17);
      hash ^= Math.imul(mixed, 0x1b873593);
      hash = (hash << 13) | (hash >>> 19);
      hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return hash ^ (hash >>> 16);
  };

  /** Where the key stands in its table, or the free slot where it would. */
  const findSlot = (table: Uint32Array, hash: number): number => {
    let at = homeOf(table, hash);
    while (table[at + OWNER] !== 0 && !isKeyAt(table, at)) {
      at += SLOT_WORDS;
      if (at === table.length) at = 0;
    }
    return at;
  };

  const resize = (number: number, level: number): void => {
    const from = tables[number]!;
    const to = level < 0 ? NONE : new Uint32Array(capacityAt(number, level) * SLOT_WORDS);
    slots += (to.length - from.length) / SLOT_WORDS;
    tables[number] = to;
    levels[number] = level;
    for (let at = 0; at < from.length; at += SLOT_WORDS) {
      if (from[at + OWNER] === 0) continue;
      let free = homeOf(to, hashAt(from, at));
      while (to[free + OWNER] !== 0) {
        free += SLOT_WORDS;
        if (free === to.length) free = 0;
      }
      for (let word = 0; word < SLOT_WORDS; word++) to[free + word] = from[at + word]!;
    }
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

  /** Empties a slot, and moves into the gap what probed past it. */
  const empty = (number: number, slot: number): void => {
    const table = tables[number]!;
    let gap = slot;
    for (let at = gap; ;) {
      at += SLOT_WORDS;
      if (at === table.length) at = 0;
      if (table[at + OWNER] === 0) break;
      const home = homeOf(table, hashAt(table, at));
      const stays = gap <= at ? gap < home && home <= at : gap < home || home <= at;
      if (stays) continue;
      table.copyWithin(gap, at, at + SLOT_WORDS);
      gap = at;
    }
    table[gap + OWNER] = 0;
    used[number]!--;
  };

  const addKey = (stream: number): boolean => {
    const hash = hashAt(key, 0);
    const number = hash & (TABLES - 1);
    let table = tables[number]!;
    if (used[number]! + 1 > (table.length / SLOT_WORDS) * MAX_LOAD) {
      resize(number, levels[number]! + 1);
      table = tables[number]!;
    }
    const at = findSlot(table, hash);
    const owner = table[at + OWNER]!;
    if (owner === 0) {
      table.set(key, at);
      table[at + OWNER] = stream + 1;
      used[number]!++;
    } else if (owner < IS_NODE) {
      if (owner === stream + 1) return false;
      table[at + OWNER] = IS_NODE + chains.push(stream, chains.push(owner - 1, undefined));
    } else {
      if (chains.has(owner - IS_NODE, stream)) return false;
      table[at + OWNER] = IS_NODE + chains.push(stream, owner - IS_NODE);
    }
    size++;
    return true;
  };

  /** Takes streams off a chain; what is left of it as an owner, 0 when nothing is. */
  const filterChain = (head: number, isGone: (stream: number) => boolean): number => {
    const kept = chains.filter(head, isGone, () => size--);
    if (kept === undefined) return 0;
    const only = chains.only(kept);
    if (only === undefined) return IS_NODE + kept;
    chains.free(kept);
    return only + 1;
  };

  const removeKey = (stream: number): boolean => {
    const hash = hashAt(key, 0);
    const number = hash & (TABLES - 1);
    const table = tables[number]!;
    if (table.length === 0) return false;
    const at = findSlot(table, hash);
    const owner = table[at + OWNER]!;
    const before = size;
    if (owner === stream + 1) {
      size--;
      empty(number, at);
      shrink(number);
    } else if (owner >= IS_NODE) {
      table[at + OWNER] = filterChain(owner - IS_NODE, (each) => each === stream);
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
      return slots * SLOT_BYTES + chains.sizeBytes;
    },
    add: (addresses, stream) => countKeys(addresses, stream, addKey),
    remove: (addresses, stream) => countKeys(addresses, stream, removeKey),
    visit(text, from, visit) {
      readText(key, text, from);
      const hash = hashAt(key, 0);
      const table = tables[hash & (TABLES - 1)]!;
      if (table.length === 0) return;
      const owner = table[findSlot(table, hash) + OWNER]!;
      if (owner === 0) return;
      if (owner < IS_NODE) visit(owner - 1);
      else chains.visit(owner - IS_NODE, visit);
    },
    sweep(number, isGone) {
      const table = tables[number]!;
      for (let at = 0; at < table.length; at += SLOT_WORDS) {
        // Emptying a slot may move another into it, which is looked at in its turn.
        for (let owner = table[at + OWNER]!; owner !== 0; owner = table[at + OWNER]!) {
          const left =
            owner >= IS_NODE ? filterChain(owner - IS_NODE, isGone) : isGone(owner - 1) ? 0 : owner;
          if (left !== 0) {
            table[at + OWNER] = left;
            break;
          }
          if (owner < IS_NODE) size--;
          empty(number, at);
        }
      }
      if (table.length > 0) shrink(number);
    },
  };
}

/** Lists of streams in nodes of two words: a stream, and the number of the next node + 1. */
function createChains() {
  const segments: Uint32Array[] = [];
  /** First of the nodes that are free, linked as the chains are. */
  let firstFree: number | undefined;
  const segmentOf = (node: number): Uint32Array => segments[Math.floor(node / NODES_PER_SEGMENT)]!;
  const offsetOf = (node: number): number => (node % NODES_PER_SEGMENT) * NODE_WORDS;
  const streamOf = (node: number): number => segmentOf(node)[offsetOf(node)]!;
  const nextOf = (node: number): number | undefined => {
    const next = segmentOf(node)[offsetOf(node) + 1]!;
    return next === 0 ? undefined : next - 1;
  };
  const setNext = (node: number, next: number | undefined): void => {
    segmentOf(node)[offsetOf(node) + 1] = next === undefined ? 0 : next + 1;
  };

  const free = (node: number): void => {
    setNext(node, firstFree);
    firstFree = node;
  };
  const grow = (): number => {
    const first = segments.length * NODES_PER_SEGMENT;
    segments.push(new Uint32Array(NODES_PER_SEGMENT * NODE_WORDS));
    for (let node = first + NODES_PER_SEGMENT - 1; node > first; node--) free(node);
    return first;
  };

  return {
    get sizeBytes() {
      return segments.length * NODES_PER_SEGMENT * NODE_WORDS * Uint32Array.BYTES_PER_ELEMENT;
    },
    free,
    /** A chain with this stream before the ones of `next`. */
    push(stream: number, next: number | undefined): number {
      let node = firstFree;
      if (node === undefined) node = grow();
      else firstFree = nextOf(node);
      segmentOf(node)[offsetOf(node)] = stream;
      setNext(node, next);
      return node;
    },
    has(head: number, stream: number): boolean {
      for (let node: number | undefined = head; node !== undefined; node = nextOf(node)) {
        if (streamOf(node) === stream) return true;
      }
      return false;
    },
    visit(head: number, visit: (stream: number) => void): void {
      for (let node: number | undefined = head; node !== undefined; node = nextOf(node)) {
        visit(streamOf(node));
      }
    },
    /** The stream of a chain that has just one. */
    only: (head: number): number | undefined =>
      nextOf(head) === undefined ? streamOf(head) : undefined,
    /** The chain without the streams that are gone; undefined when none is left. */
    filter(
      head: number,
      isGone: (stream: number) => boolean,
      onGone: () => void,
    ): number | undefined {
      let first: number | undefined;
      let last: number | undefined;
      for (let node: number | undefined = head; node !== undefined;) {
        const next = nextOf(node);
        if (isGone(streamOf(node))) {
          free(node);
          onGone();
        } else {
          if (last === undefined) first = node;
          else setNext(last, node);
          last = node;
        }
        node = next;
      }
      if (last !== undefined) setNext(last, undefined);
      return first;
    },
  };
}

function readBytes(key: Uint32Array, bytes: Uint8Array, from: number): void {
  for (let word = 0, at = from; word < key.length; word++, at += 4) {
    key[word] =
      (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
  }
}

/** The value of each hex digit by its character code. */
const DIGITS = new Uint8Array(128);
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16);
  DIGITS[digit.charCodeAt(0)] = value;
  DIGITS[digit.toUpperCase().charCodeAt(0)] = value;
}

function readText(key: Uint32Array, text: string, from: number): void {
  for (let word = 0, at = from; word < key.length; word++) {
    let value = 0;
    for (const end = at + 8; at < end; at++) value = (value << 4) | DIGITS[text.charCodeAt(at)]!;
    key[word] = value;
  }
}
