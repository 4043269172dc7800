/** Event signatures: from text as people write it, or from an ABI item, to their topic. */
import { keccak256 } from './hash.ts';
import type { AbiItem, AbiParameter } from './streams.ts';

export interface EventSignature {
  /** 32-byte hash, lower-case hex: the first topic of the event's logs. */
  topic0: string;
  /** Canonical text, e.g. `Transfer(address,address,uint256)`; absent when only a hash was given. */
  signature?: string;
}

const HASH = /^0[xX][0-9a-fA-F]{64}$/;
const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
const TYPE = /^([a-z]+)(\d*)(x\d+)?((?:\[\d*\])*)$/;
const TOKEN = /\s*([A-Za-z0-9_$]+|\[\d*\]|[(),;])/y;

/** Longest text that is read; the deepest nesting of tuples. */
const MAX_LENGTH = 4096;
const MAX_DEPTH = 32;

/**
 * Reads an event as a 32-byte hash or as text: canonical (`Transfer(address,address,uint256)`) or as
 * in Solidity (`event Transfer(address indexed from, address indexed to, uint value)`), with tuples
 * in parentheses. Undefined for anything else.
 */
export function parseEventSignature(text: string): EventSignature | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  if (HASH.test(text)) return { topic0: text.toLowerCase() };
  const signature = canonicalSignature(text);
  return signature === undefined ? undefined : { topic0: hashOf(signature), signature };
}

/** The canonical signature of an event of an ABI. */
export function eventSignature(item: AbiItem): string {
  return `${item.name ?? ''}(${typeList(item.inputs)})`;
}

/** The topic that logs of this event begin with (unless it is anonymous). */
export function eventTopic(item: AbiItem): string {
  return hashOf(eventSignature(item));
}

/** Signatures of the events of token standards (ERC-20, ERC-721, ERC-1155), by topic0: most streams watch one. */
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
};

/** Webhooks bring the same few events again and again, each time as a new ABI. */
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

/**
 * The canonical spelling of an elementary Solidity type with its array suffixes (`uint[]` is
 * `uint256[]`), or undefined when there is no such type.
 */
export function canonicalType(type: string): string | undefined {
  const match = TYPE.exec(type);
  if (!match) return undefined;
  const [, base = '', size = '', decimals = '', arrays = ''] = match;
  const name = canonicalElementary(base, size, decimals);
  return name === undefined ? undefined : name + arrays;
}

function canonicalElementary(base: string, size: string, decimals: string): string | undefined {
  if (size.startsWith('0')) return undefined;
  const number = Number(size);
  switch (base) {
    case 'uint':
    case 'int':
      if (decimals) return undefined;
      if (!size) return `${base}256`;
      return number % 8 === 0 && number <= 256 ? base + size : undefined;
    case 'bytes':
      return decimals || number > 32 ? undefined : base + size;
    case 'fixed':
    case 'ufixed': {
      if (!size && !decimals) return `${base}128x18`;
      const places = Number(decimals.slice(1));
      const known = number >= 8 && number <= 256 && number % 8 === 0 && decimals && places <= 80;
      return known ? `${base}${number}x${places}` : undefined;
    }
    case 'address':
    case 'bool':
    case 'string':
    case 'function':
      return size || decimals ? undefined : base;
    default:
      return undefined;
  }
}

function typeList(parameters: readonly AbiParameter[] = []): string {
  return parameters.map(parameterType).join(',');
}

function parameterType({ type, components }: AbiParameter): string {
  if (type.startsWith('tuple')) return `(${typeList(components)})${type.slice('tuple'.length)}`;
  return canonicalType(type) ?? type;
}

function canonicalSignature(text: string): string | undefined {
  const tokens = tokenize(text);
  if (!tokens) return undefined;
  let at = 0;

  /** Reads `(a, b, …)` and what may follow each type; undefined where the text is wrong. */
  const readList = (depth: number): string | undefined => {
    if (depth > MAX_DEPTH || tokens[at++] !== '(') return undefined;
    const types: string[] = [];
    if (tokens[at] === ')') {
      at++;
      return '()';
    }
    for (;;) {
      const type = readParameter(depth);
      if (type === undefined) return undefined;
      types.push(type);
      const next = tokens[at++];
      if (next === ')') return `(${types.join(',')})`;
      if (next !== ',') return undefined;
    }
  };

  const readParameter = (depth: number): string | undefined => {
    if (tokens[at] === 'tuple') at++;
    let type: string | undefined;
    if (tokens[at] === '(') {
      type = readList(depth + 1);
    } else if (tokens[at - 1] !== 'tuple') {
      type = canonicalType(tokens[at++] ?? '');
    }
    if (type === undefined) return undefined;
    while (tokens[at]?.startsWith('[')) type += tokens[at++];
    if (tokens[at] === 'indexed') at++;
    if (IDENTIFIER.test(tokens[at] ?? '')) at++;
    return type;
  };

  if (tokens[0] === 'event' && tokens[1] !== '(') at++;
  const name = tokens[at++] ?? '';
  if (!IDENTIFIER.test(name)) return undefined;
  const inputs = readList(0);
  if (inputs === undefined) return undefined;
  if (tokens[at] === 'anonymous') at++;
  if (tokens[at] === ';') at++;
  return at === tokens.length ? name + inputs : undefined;
}

function tokenize(text: string): string[] | undefined {
  const trimmed = text.trimEnd();
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < trimmed.length) {
    const match = TOKEN.exec(trimmed);
    if (!match) return undefined;
    tokens.push(match[1] ?? '');
  }
  return tokens;
}
