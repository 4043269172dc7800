/** Uses the proofs in a webhook to check that its logs are in a block. */
import { toHex } from '../contract/rules/abi/values.ts';
import { keccak256 } from '../contract/rules/hash.ts';
import type {
  EvmWebhook,
  WebhookBlock,
  WebhookLog,
  WebhookReceiptProof,
} from '../contract/shapes.generated.ts';
import { SluiceError, isSluiceError } from '../errors.ts';

/** The part of a webhook that {@link verifyLogProof} checks. */
export type ProvenWebhook = Pick<EvmWebhook, 'block' | 'logs' | 'proofs'>;

/** Options of {@link verifyLogProof}. */
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
 * Checks the address, topics and data of every log, its position in the receipt of its transaction,
 * the position of the transaction, and the block's number and time. Every value must be spelled as
 * the service spells it, because readers may read another spelling as another value. Transaction
 * hashes, `triggers`, `triggered_by` and records other than `logs` are not proven. Takes time and
 * memory in proportion to the size of the webhook, up to {@link MAX_TEXT}.
 *
 * @throws SluiceError `invalid_proof` if the proof is missing or malformed, a log is not proven, is
 * listed twice or has unknown properties, or the block is a different one; `payload_too_large` if
 * the webhook is too large to be checked.
 */
export function verifyLogProof(
  webhook: ProvenWebhook,
  { blockHash }: VerifyLogProofOptions = {},
): LogProof {
  try {
    limitText(webhook);
    return check(webhook, blockHash);
  } catch (error) {
    if (isSluiceError(error)) throw error;
    throw new SluiceError('invalid_proof', 'The webhook or its proof is malformed', {
      cause: error,
    });
  }
}

/**
 * Maximum size of `block`, `logs` and `proofs`: the characters of their strings, and one for each
 * other value.
 */
const MAX_TEXT = 128 * 1024 * 1024;

/** Counts before anything is hashed, so that a refusal is cheap. */
function limitText({ block, logs, proofs }: ProvenWebhook): void {
  let length = 0;
  const count = (value: unknown): void => {
    length += typeof value === 'string' ? value.length : 1;
    if (length > MAX_TEXT) {
      const message = `The webhook has more than ${MAX_TEXT} characters to prove`;
      const hint = 'Set a lower maxWebhookBytes on the stream, which then sends smaller parts.';
      throw new SluiceError('payload_too_large', message, { hint });
    }
    if (Array.isArray(value)) value.forEach(count);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(count);
  };
  [block, logs, proofs].forEach(count);
}

function check({ block, logs, proofs }: ProvenWebhook, blockHash: string | undefined): LogProof {
  if (proofs === undefined) fail('The webhook has no proofs: set includeProofs on its stream');
  const { hash, number, timestamp } = readFields(block, BLOCK_KEYS, 'block');
  const encoded = readHex(proofs.header);
  const proven = hashOf(encoded);
  if (hash !== proven) fail(`The proof is for block ${proven}, not ${String(hash)}`);
  if (blockHash !== undefined && blockHash.toLowerCase() !== proven) {
    fail(`The webhook is about block ${proven}, not ${blockHash}`);
  }
  const fields = toItems(encoded);
  // A Tempo header starts with three fields that only Tempo has, followed by a list of Ethereum's
  // header fields.
  const header = isList(fields[3]) ? toItems(fields[3]) : fields;
  if (
    toContent(header[8]) !== toQuantity(number) ||
    toContent(header[11]) !== toQuantity(timestamp)
  ) {
    fail('The header has a different number or time than the webhook');
  }
  const receipts = readReceipts(toContent(header[5]), proofs.receipts);
  const seen = new Set<number>();
  for (const each of toArray(logs)) {
    const log = readFields(each, LOG_KEYS, 'log');
    const transaction = readHex(log.transactionHash);
    const receipt = receipts.get(transaction);
    if (receipt === undefined) fail(`Transaction 0x${transaction} has no proof`);
    const logIndex = readIndex(log.logIndex);
    if (!isProven(log, receipt.logs[logIndex - receipt.firstLogIndex])) {
      fail(`Log ${logIndex} is not proven`);
    }
    if (seen.has(logIndex)) fail(`Log ${logIndex} is listed twice`);
    seen.add(logIndex);
  }
  return blockHash === undefined
    ? { isVerified: false, compare: proven }
    : { isVerified: true, blockHash: proven };
}

function fail(message: string): never {
  throw new SluiceError('invalid_proof', message);
}

function malformed(): never {
  fail('The webhook or its proof is malformed');
}

/** Properties of a block. */
const BLOCK_KEYS = new Set<keyof WebhookBlock>(['number', 'hash', 'timestamp']);
const TOPICS = ['topic0', 'topic1', 'topic2', 'topic3'] as const;
/** Properties of a log. An unknown one could give a reader another address, topic or data. */
const LOG_KEYS = new Set<keyof WebhookLog>([
  ...['logIndex', 'transactionHash', 'address', 'data', 'triggers', 'triggered_by'],
  ...TOPICS,
] as (keyof WebhookLog)[]);

/** Copies the properties of an object, without inherited ones; refuses other properties. */
function readFields<Key extends string>(
  value: unknown,
  known: ReadonlySet<Key>,
  what: string,
): { [K in Key]?: unknown } {
  if (typeof value !== 'object' || value === null) malformed();
  const fields = Object.assign(Object.create(null) as object, value);
  const other = Object.keys(fields).find((key) => !known.has(key as Key));
  if (other !== undefined) fail(`The ${what} has an unknown property: ${other.slice(0, 40)}`);
  return fields;
}

const toArray = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : malformed();

/** Returns the lowercase digits of a hex value. */
const readHex = (value: unknown): string => (toHex(value) ?? malformed()).slice(2);

/** Matches an integer below 10^15, or any block number, in the notation of the service. */
const INDEX = /^(0|[1-9]\d{0,14})$/;
const NUMBER = /^(0|[1-9]\d{0,19})$/;

const readIndex = (value: unknown): number =>
  typeof value === 'string' && INDEX.test(value) ? Number(value) : malformed();

/** Returns the RLP form of a decimal number: hex without leading zero bytes. */
function toQuantity(decimal: unknown): string {
  if (typeof decimal !== 'string' || !NUMBER.test(decimal)) malformed();
  const hex = decimal === '0' ? '' : BigInt(decimal).toString(16);
  return hex.length % 2 === 0 ? hex : `0${hex}`;
}

/** Returns the Keccak-256 of the bytes. */
function hashOf(hex: string): string {
  const bytes = new Uint8Array(hex.length / 2);
  for (let n = 0; n < bytes.length; n++) bytes[n] = byteAt(hex, 2 * n);
  return keccak256(bytes);
}

/** Returns the byte at a position of lowercase hex; NaN after its end. */
const byteAt = (hex: string, at: number): number =>
  16 * toDigit(hex.charCodeAt(at)) + toDigit(hex.charCodeAt(at + 1));

const toDigit = (code: number): number => (code <= 0x39 ? code - 0x30 : code - 0x57);

/** Measures the RLP item at a position of a hex text (Yellow Paper, appendix B). */
function measure(hex: string, at: number): { start: number; end: number } {
  const first = byteAt(hex, at);
  if (first < 0x80) return { start: at, end: at + 2 };
  let length = (first - 0x80) % 0x40;
  let start = at + 2;
  if (length > 55) {
    const digits = 2 * (length - 55);
    length = Number.parseInt(hex.slice(start, start + digits), 16);
    start += digits;
  }
  const end = start + 2 * length;
  // If the text ends within the item, `end` may be NaN, for which this comparison is also false.
  if (!(end <= hex.length)) malformed();
  return { start, end };
}

const isList = (item: string | undefined): boolean => byteAt(item ?? '', 0) >= 0xc0;

/** Returns the encoded items of an encoded list. */
function toItems(list: string | undefined): string[] {
  if (list === undefined || !isList(list)) malformed();
  const { start, end } = measure(list, 0);
  if (end !== list.length) malformed();
  const items: string[] = [];
  for (let at = start; at < end;) {
    const next = measure(list, at).end;
    items.push(list.slice(at, next));
    at = next;
  }
  return items;
}

/** Returns the content of an encoded item that is not a list. */
function toContent(item: string | undefined): string {
  if (item === undefined || isList(item)) malformed();
  const { start, end } = measure(item, 0);
  return end === item.length ? item.slice(start) : malformed();
}

/** A proven receipt. */
interface Receipt {
  readonly firstLogIndex: number;
  /** The encoded logs. */
  readonly logs: readonly string[];
}

const RECEIPT_KEYS = new Set<keyof WebhookReceiptProof>([
  ...(['transactionHash', 'transactionIndex', 'firstLogIndex', 'nodes'] as const),
]);

/**
 * Returns the receipts by transaction hash. They must be in the order of the block and their log
 * indices must not overlap, so that each log has one position.
 */
function readReceipts(root: string, proofs: unknown): Map<string, Receipt> {
  const receipts = new Map<string, Receipt>();
  let before = -1;
  let end = 0;
  for (const each of toArray(proofs)) {
    const proof = readFields(each, RECEIPT_KEYS, 'proof');
    const index = readIndex(proof.transactionIndex);
    const logs = logsOf(follow(root, index, toArray(proof.nodes)));
    const firstLogIndex = readIndex(proof.firstLogIndex);
    const hash = readHex(proof.transactionHash);
    if (index <= before || receipts.has(hash))
      fail('A transaction is listed twice or out of order');
    if (index === before + 1 ? firstLogIndex !== end : firstLogIndex < end) {
      fail(`The log indices of transaction ${index} do not follow those before it`);
    }
    receipts.set(hash, { firstLogIndex, logs });
    before = index;
    end = firstLogIndex + logs.length;
  }
  return receipts;
}

function logsOf(receipt: string): string[] {
  // The receipts of typed transactions start with the transaction type.
  return toItems(toItems(isList(receipt) ? receipt : receipt.slice(2))[3]);
}

/** Returns the encoded receipt at an index of the trie (Yellow Paper, appendix D). */
function follow(root: string, index: number, nodes: readonly unknown[]): string {
  let next = 0;
  const open = (hash: string): string => {
    const node = readHex(nodes[next++]);
    return hashOf(node) === `0x${hash}` ? node : fail('A node of the proof has a different hash');
  };
  let key = toKey(index);
  let node = toItems(open(root));
  for (;;) {
    let child: string | undefined;
    if (node.length === 17) {
      child = node[Number.parseInt(key[0] ?? '', 16)];
      key = key.slice(1);
    } else {
      const packed = toContent(node[0]);
      const kind = Number(packed[0]);
      const path = packed.slice(kind % 2 === 1 ? 1 : 2);
      const isLeaf = kind >= 2;
      if (isLeaf ? key !== path : !key.startsWith(path)) {
        fail('The proof is for another transaction');
      }
      key = key.slice(path.length);
      child = node[1];
      if (isLeaf) return toContent(child);
    }
    node = toItems(isList(child) ? child : open(toContent(child)));
  }
}

/** Returns the key of a receipt in the trie: its RLP-encoded index. */
function toKey(index: number): string {
  const number = toQuantity(String(index));
  const isShort = number.length === 2 && number < '80';
  return isShort ? number : (0x80 + number.length / 2).toString(16) + number;
}

function isProven(log: { [K in keyof WebhookLog]?: unknown }, proven: string | undefined): boolean {
  if (proven === undefined) return false;
  const [address, list, data] = toItems(proven);
  const topics = toItems(list).map(toContent);
  return (
    topics.length <= TOPICS.length &&
    readHex(log.address) === toContent(address) &&
    readHex(log.data) === toContent(data) &&
    TOPICS.every((name, n) =>
      topics[n] === undefined ? (log[name] ?? null) === null : readHex(log[name]) === topics[n],
    )
  );
}
