/** Converts events, from text or an ABI item, to topics. */
import { keccak256 } from './hash.ts';
import { type SignatureProblem, findItemProblem, itemSignature, parseItem } from './signatures.ts';
import type { AbiItem } from '../shapes.generated.ts';

export interface EventSignature {
  /** Hash of the signature in lowercase hex: the first topic of the event's logs. */
  topic0: string;
  /**
   * Canonical signature, such as `Transfer(address,address,uint256)`. Omitted if only a hash was
   * given.
   */
  signature?: string;
}

const HASH = /^0[xX][0-9a-fA-F]{64}$/;

/**
 * Parses an event from a 32-byte hash or from text: canonical (`Transfer(address,address,uint256)`)
 * or as in Solidity (`event Transfer(address indexed from, address indexed to, uint value)`), with
 * tuples in parentheses. Returns undefined for anything else.
 */
export function parseEventSignature(text: string): EventSignature | undefined {
  if (HASH.test(text)) return { topic0: text.toLowerCase() };
  const item = parseEvent(text);
  if (item === undefined) return undefined;
  const signature = itemSignature(item);
  return { topic0: hashOf(signature), signature };
}

/**
 * Parses an event from text, as {@link parseEventSignature} does, into an ABI item with the names
 * and the indexed parameters in the text.
 */
export const parseEvent = (text: string): AbiItem | undefined => parseItem(text, 'event');

/** Returns why {@link parseEventSignature} rejects the text; undefined for a valid signature. */
export const findSignatureProblem = (text: string): SignatureProblem | undefined =>
  HASH.test(text) ? undefined : findItemProblem(text, 'event');

/**
 * Returns the hash of an ABI event's signature: the first topic of its logs, unless the event is
 * anonymous.
 */
export function eventTopic(item: AbiItem): string {
  return hashOf(itemSignature(item));
}

/**
 * Signatures of the transfer and approval events of ERC-20, ERC-721, ERC-1155, ERC-2309 and
 * ERC-6909, by topic0.
 */
export const KNOWN_EVENTS: Readonly<Record<string, string>> = {
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef':
    'Transfer(address,address,uint256)',
  '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925':
    'Approval(address,address,uint256)',
  '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31':
    'ApprovalForAll(address,address,bool)',
  '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62':
    'TransferSingle(address,address,address,uint256,uint256)',
  '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb':
    'TransferBatch(address,address,address,uint256[],uint256[])',
  '0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d':
    'ConsecutiveTransfer(uint256,uint256,address,address)',
  '0x1b3d7edb2e9c0b0e7c525b20aaaef0f5940d2ed71663c7d39266ecafac728859':
    'Transfer(address,address,address,uint256,uint256)',
};

/** Cache of topics by signature, because most webhooks contain the same few events. */
const hashes = new Map<string, string>();
const MAX_HASHES = 1000;

function hashOf(signature: string): string {
  let hash = hashes.get(signature);
  if (hash === undefined) {
    hash = keccak256(signature);
    if (hashes.size >= MAX_HASHES) hashes.clear();
    hashes.set(signature, hash);
  }
  return hash;
}
