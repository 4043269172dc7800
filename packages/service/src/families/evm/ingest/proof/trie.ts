/**
 * Builds the Merkle Patricia trie of a list (Yellow Paper, appendix D). Its root is the
 * transactions or receipts root in a block header. The key of a value is its RLP-encoded index.
 */
import { keccak256 } from '@sluice/kit/contract';
import { numberBytes } from './fields.ts';
import { encodeList, encodeRlp } from './rlp.ts';

export interface ListTrie {
  /** Root hash of the trie: `0x` and 64 lowercase hex digits. */
  readonly root: string;
  /**
   * Returns the encoded nodes on the path from the root to the value at this index. Nodes that are
   * embedded in their parent are omitted.
   */
  prove(index: number): Buffer[];
}

interface Node {
  encoded: Buffer;
  /** Number of nibbles in the path of an extension; 0 for other nodes. */
  skip: number;
  /** A branch has 16 children by nibble, an extension has one, and a leaf has none. */
  children: readonly (Node | undefined)[];
}

interface Entry {
  nibbles: readonly number[];
  value: Uint8Array;
}

const HASH_BYTES = 32;
const NOTHING = encodeRlp(Buffer.alloc(0));

export const EMPTY_ROOT = keccak256(NOTHING);

export function createListTrie(values: readonly Uint8Array[]): ListTrie {
  if (values.length === 0) return { root: EMPTY_ROOT, prove: () => [] };
  const entries = inKeyOrder(values);
  const top = build(entries, 0, entries.length, 0);
  return {
    root: keccak256(top.encoded),
    prove(index) {
      const nibbles = nibblesOf(index);
      const path = [top.encoded];
      let depth = 0;
      for (let node = top; node.children.length > 0;) {
        depth += node.skip;
        node = node.skip > 0 ? node.children[0]! : node.children[nibbles[depth++]!]!;
        if (node.encoded.length >= HASH_BYTES) path.push(node.encoded);
      }
      return path;
    },
  };
}

/**
 * Sorts the values by key. The indices 1 to 127 are their own keys, the key of 0 is 0x80, and
 * higher indices have longer keys that start with a higher byte.
 */
function inKeyOrder(values: readonly Uint8Array[]): Entry[] {
  const short = Math.min(values.length, 0x80);
  const order = [...values.keys()];
  return [...order.slice(1, short), 0, ...order.slice(short)].map((index) => ({
    nibbles: nibblesOf(index),
    value: values[index]!,
  }));
}

const nibblesOf = (index: number): number[] =>
  [...encodeRlp(numberBytes(index))].flatMap((byte) => [byte >> 4, byte & 15]);

/**
 * Builds the node for the entries from `from` to before `to`, which share the first `depth`
 * nibbles.
 */
function build(entries: readonly Entry[], from: number, to: number, depth: number): Node {
  const first = entries[from]!;
  if (to - from === 1) {
    const path = packNibbles(first.nibbles.slice(depth), 2);
    return { encoded: encodeRlp([path, first.value]), skip: 0, children: [] };
  }
  const last = entries[to - 1]!;
  let shared = depth;
  while (first.nibbles[shared] === last.nibbles[shared]) shared++;
  if (shared > depth) {
    const child = build(entries, from, to, shared);
    const path = encodeRlp(packNibbles(first.nibbles.slice(depth, shared), 0));
    const encoded = encodeList([path, referTo(child)]);
    return { encoded, skip: shared - depth, children: [child] };
  }
  const children = Array.from<Node | undefined>({ length: 16 });
  for (let start = from; start < to;) {
    const nibble = entries[start]!.nibbles[depth]!;
    let end = start + 1;
    while (end < to && entries[end]!.nibbles[depth] === nibble) end++;
    children[nibble] = build(entries, start, end, depth + 1);
    start = end;
  }
  // No key is a prefix of another, so a branch has no value of its own.
  const encoded = encodeList([
    ...children.map((child) => (child === undefined ? NOTHING : referTo(child))),
    NOTHING,
  ]);
  return { encoded, skip: 0, children };
}

const referTo = ({ encoded }: Node): Buffer =>
  encoded.length < HASH_BYTES
    ? encoded
    : encodeRlp(Buffer.from(keccak256(encoded).slice(2), 'hex'));

/**
 * @param kind the flag: 2 for a leaf, 0 for an extension; 1 is added for an odd number of nibbles
 */
function packNibbles(nibbles: readonly number[], kind: 0 | 2): Buffer {
  const isOdd = nibbles.length % 2 === 1;
  const all = isOdd ? [kind + 1, ...nibbles] : [kind, 0, ...nibbles];
  return Buffer.from(
    Array.from({ length: all.length / 2 }, (_, n) => all[2 * n]! * 16 + all[2 * n + 1]!),
  );
}
