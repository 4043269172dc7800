/** Uses the proofs in a webhook to check that its logs are in a block. */
import { keccak256 } from '../contract/rules/hash.ts';
import type { EvmWebhook, WebhookLog } from '../contract/shapes.generated.ts';
import { SluiceError, isSluiceError } from '../errors.ts';

/** The part of a webhook that {@link verifyLogProof} checks. */
export type ProvenWebhook = Pick<EvmWebhook, 'block' | 'logs' | 'proofs'>;

export interface VerifyLogProofOptions {
  /**
   * Block hash from a source that you trust, such as your own node, a light client, or a
   * checkpoint.
   */
  blockHash?: string | undefined;
}

/**
 * The result of {@link verifyLogProof}:
 * - `isVerified: true`: the logs are in the block with the hash that you passed.
 * - `isVerified: false`: the logs are in a block with the hash `compare`. Anyone can make up such a
 *   block, so compare the hash with one from a source that you trust.
 */
export type LogProof =
  | { readonly isVerified: true; readonly blockHash: string }
  | { readonly isVerified: false; readonly compare: string };

/**
 * Checks the address, topics and data of every log, the position of its transaction, and the
 * block's number and time. Transaction hashes and records other than `logs` are not proven.
 *
 * @throws SluiceError `invalid_proof` if the proof is missing or malformed, a log is not proven, or
 * the block is a different one.
 */
export function verifyLogProof(
  webhook: ProvenWebhook,
  { blockHash }: VerifyLogProofOptions = {},
): LogProof {
  try {
    return check(webhook, blockHash);
  } catch (error) {
    if (isSluiceError(error)) throw error;
    throw new SluiceError('invalid_proof', 'The webhook or its proof is malformed', {
      cause: error,
    });
  }
}

function check({ block, logs, proofs }: ProvenWebhook, blockHash: string | undefined): LogProof {
  if (proofs === undefined) fail('The webhook has no proofs: set includeProofs on its stream');
  const encoded = toBytes(proofs.header);
  const hash = keccak256(encoded);
  if (hash !== block.hash) fail(`The proof is for block ${hash}, not ${block.hash}`);
  if (blockHash !== undefined && blockHash.toLowerCase() !== hash) {
    fail(`The webhook is about block ${hash}, not ${blockHash}`);
  }
  const fields = toList(decode(encoded));
  // A Tempo header starts with three fields that only Tempo has, followed by a list of Ethereum's
  // header fields.
  const header = Array.isArray(fields[3]) ? fields[3] : fields;
  if (
    toHex(header[8]) !== quantity(block.number) ||
    toHex(header[11]) !== quantity(block.timestamp)
  ) {
    fail('The header has a different number or time than the webhook');
  }
  const transactions = new Map<string, WebhookLog[]>();
  for (const log of logs) {
    const own = transactions.get(log.transactionHash) ?? [];
    transactions.set(log.transactionHash, own);
    own.push(log);
  }
  for (const [transactionHash, own] of transactions) {
    const proof = proofs.receipts.find((each) => each.transactionHash === transactionHash);
    if (proof === undefined) fail(`Transaction ${transactionHash} has no proof`);
    const receipt = follow(toHex(header[5]), proof.transactionIndex, proof.nodes);
    if (!areIn(own, logsOf(receipt))) fail(`Logs of transaction ${transactionHash} are not proven`);
  }
  return blockHash === undefined
    ? { isVerified: false, compare: hash }
    : { isVerified: true, blockHash: hash };
}

function fail(message: string): never {
  throw new SluiceError('invalid_proof', message);
}

type Item = Uint8Array | readonly Item[];

function toBytes(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2 - 1);
  for (let n = 0; n < bytes.length; n++) {
    bytes[n] = Number.parseInt(hex.slice(2 * n + 2, 2 * n + 4), 16);
  }
  return bytes;
}

function toHex(item: Item | undefined): string {
  if (!(item instanceof Uint8Array)) fail('The proof is malformed');
  return `0x${Array.from(item, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

const toList = (item: Item): readonly Item[] =>
  item instanceof Uint8Array ? fail('The proof is malformed') : item;

/** Converts a decimal number to its RLP form: hex without leading zero bytes. */
function quantity(decimal: string): string {
  const hex = BigInt(decimal).toString(16);
  return hex === '0' ? '0x' : `0x${hex.length % 2 === 0 ? '' : '0'}${hex}`;
}

/** Decodes RLP (Yellow Paper, appendix B). */
function decode(bytes: Uint8Array): Item {
  let at = 0;
  const read = (end: number): Item => {
    const first = bytes[at++] ?? fail('The proof is malformed');
    if (first < 0x80) return bytes.subarray(at - 1, at);
    const isList = first >= 0xc0;
    let length = first - (isList ? 0xc0 : 0x80);
    if (length > 55) {
      const lengthEnd = at + length - 55;
      for (length = 0; at < lengthEnd; at++) length = length * 256 + (bytes[at] ?? Number.NaN);
    }
    const stop = at + length;
    // If the data ends within the length, `stop` is NaN, for which this comparison is also false.
    if (!(stop <= end)) fail('The proof is malformed');
    if (!isList) return bytes.subarray(at, (at = stop));
    const items: Item[] = [];
    while (at < stop) items.push(read(stop));
    return items;
  };
  const item = read(bytes.length);
  return at === bytes.length ? item : fail('The proof is malformed');
}

/** Returns the encoded receipt at an index of the trie (Yellow Paper, appendix D). */
function follow(root: string, index: string, nodes: readonly string[]): Uint8Array {
  // The key of a receipt in the trie is its RLP-encoded index.
  const number = quantity(index).slice(2);
  const isShort = number.length === 2 && number < '80';
  let key = isShort ? number : (0x80 + number.length / 2).toString(16) + number;
  let next = 0;
  let reference: Item = toBytes(root);
  for (;;) {
    let node: Item = reference;
    if (node instanceof Uint8Array) {
      const encoded = toBytes(nodes[next++] ?? fail('The proof ends before the receipt'));
      if (keccak256(encoded) !== toHex(node)) fail('A node of the proof has a different hash');
      node = decode(encoded);
    }
    const items: readonly Item[] = toList(node);
    if (items.length === 17) {
      reference = items[Number.parseInt(key[0] ?? '', 16)] ?? fail('The proof ends early');
      key = key.slice(1);
      continue;
    }
    const packed = toHex(items[0]).slice(2);
    const kind = Number(packed[0]);
    const path = packed.slice(kind % 2 === 1 ? 1 : 2);
    if (!key.startsWith(path)) fail('The proof is for another transaction');
    key = key.slice(path.length);
    reference = items[1] ?? fail('The proof is malformed');
    if (kind < 2) continue;
    if (key !== '' || !(reference instanceof Uint8Array))
      fail('The proof is for another transaction');
    return reference;
  }
}

/** Formats a log as a string for comparison. */
const textOf = (address: string, topics: readonly string[], data: string): string =>
  [address, topics.join(), data].join(' ').toLowerCase();

function logsOf(receipt: Uint8Array): string[] {
  // The receipts of typed transactions start with the transaction type.
  const fields = toList(decode(receipt[0]! < 0xc0 ? receipt.subarray(1) : receipt));
  return toList(fields[3]!).map((log) => {
    const [address, topics, data] = toList(log);
    return textOf(toHex(address), toList(topics!).map(toHex), toHex(data));
  });
}

/** Returns whether the receipt contains the logs, at the same distances as their log indices. */
function areIn(own: readonly WebhookLog[], proven: readonly string[]): boolean {
  const isAt = ({ address, topic0, topic1, topic2, topic3, data }: WebhookLog, place: number) =>
    proven[place] ===
    textOf(
      address,
      [topic0, topic1, topic2, topic3].filter((topic) => topic !== null),
      data,
    );
  const first = Number(own[0]!.logIndex);
  return proven.some((_, place) =>
    own.every((log) => isAt(log, place + Number(log.logIndex) - first)),
  );
}
