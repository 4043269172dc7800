/** Recognizes pasted text by its format. */
import { partOfUrl } from '@sluice/kit/contract';

export type Pasted =
  | { kind: 'evm-address'; address: string }
  | { kind: 'aptos-address'; address: string }
  /** 32 bytes in hex: the hash of a transaction or a block, or an Aptos address. */
  | { kind: 'hash'; hash: string }
  /** A Move path such as `0x1::coin::transfer`. */
  | { kind: 'move-path'; path: string }
  | { kind: 'block'; number: number }
  | { kind: 'ens-name'; name: string }
  | { kind: 'aptos-name'; name: string }
  /** The id of a delivery or a stream: both are UUIDs. */
  | { kind: 'id'; id: string }
  | { kind: 'event'; signature: string }
  | { kind: 'abi'; json: string }
  /** Two or more addresses. */
  | { kind: 'addresses'; text: string; count: number };

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const APTOS_ADDRESS = /^0x[0-9a-fA-F]{1,64}$/;
const HASH = /^0x[0-9a-fA-F]{64}$/;
const MOVE_PATH = /^0x[0-9a-fA-F]{1,64}::\w+::\w+(<.*>)?$/;
const NAME = /^[^\s.,;:/\\]+(\.[^\s.,;:/\\]+)*\.(?<of>eth|apt)$/iu;
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const EVENT = /^[A-Za-z_$][\w$]*\s*\(/;
const EVENT_SIGNS = /^[\w$\s,[\]()]*;?$/;
const EVENT_END = /\)(?:\s?anonymous)?;?$/;
/**
 * Matches a block number, which may start with `#` and contain thousands separators, as in block
 * explorers.
 */
const BLOCK = /^#?(?:\d{1,3}(?:[,_\u202f ]\d{3})+|\d+)$/;
const MAX_BLOCK = 1e12;

export function recognize(input: string): Pasted | undefined {
  const text = input.trim();
  if (text === '') return undefined;
  if (/^https?:\/\//i.test(text)) {
    const part = partOfUrl(text);
    return part === undefined ? undefined : recognize(decodeURIComponent(part));
  }
  if (EVM_ADDRESS.test(text)) return { kind: 'evm-address', address: text };
  if (HASH.test(text)) return { kind: 'hash', hash: text.toLowerCase() };
  if (MOVE_PATH.test(text)) return { kind: 'move-path', path: text };
  // Short forms such as 0x1 are Aptos accounts; EVM addresses are never shortened.
  if (APTOS_ADDRESS.test(text)) return { kind: 'aptos-address', address: text.toLowerCase() };
  if (UUID.test(text)) return { kind: 'id', id: text.toLowerCase() };
  const name = NAME.exec(text)?.groups;
  if (name !== undefined) {
    const kind = name['of']?.toLowerCase() === 'eth' ? 'ens-name' : 'aptos-name';
    return { kind, name: text.toLowerCase() };
  }
  if (BLOCK.test(text)) {
    const number = Number(text.replace(/\D/g, ''));
    return number <= MAX_BLOCK ? { kind: 'block', number } : undefined;
  }
  const event = text.replace(/^event\s+/, '');
  if (EVENT.test(event) && EVENT_SIGNS.test(event) && EVENT_END.test(event)) {
    return { kind: 'event', signature: text };
  }
  if (isAbi(text)) return { kind: 'abi', json: text };
  const addresses = text.match(/\b0x(?:[0-9a-fA-F]{24})?[0-9a-fA-F]{40}\b/g);
  if (addresses !== null && addresses.length > 1) {
    return { kind: 'addresses', text, count: addresses.length };
  }
  return undefined;
}

/**
 * Returns the pasted address, or undefined for other text. A hash is returned as an Aptos address,
 * because a full-length Aptos address is recognized as a hash.
 */
export function toAddress(
  pasted: Pasted | undefined,
): { family: 'evm' | 'aptos'; address: string } | undefined {
  if (pasted?.kind === 'evm-address') return { family: 'evm', address: pasted.address };
  if (pasted?.kind === 'aptos-address') return { family: 'aptos', address: pasted.address };
  if (pasted?.kind === 'hash') return { family: 'aptos', address: pasted.hash };
  return undefined;
}

/** Returns the query for Explain; undefined if Explain does not accept the pasted text. */
export function toQuestion(pasted: Pasted | undefined): string | undefined {
  switch (pasted?.kind) {
    case 'evm-address':
    case 'aptos-address':
      return pasted.address;
    case 'hash':
      return pasted.hash;
    case 'block':
      return String(pasted.number);
    case 'id':
      return pasted.id;
    case 'ens-name':
      return pasted.name;
    case 'move-path':
    case 'aptos-name':
    case 'event':
    case 'abi':
    case 'addresses':
    case undefined:
      return undefined;
  }
}

function isAbi(text: string): boolean {
  if (!text.startsWith('[') && !text.startsWith('{')) return false;
  try {
    const value: unknown = JSON.parse(text);
    const items: unknown = Array.isArray(value) ? value : (value as { abi?: unknown }).abi;
    return Array.isArray(items) && items.some((item: unknown) => isAbiItem(item));
  } catch {
    return false;
  }
}

/** Returns whether a value is an ABI item: an object, or the signature of an event. */
const isAbiItem = (item: unknown): boolean =>
  typeof item === 'string'
    ? /^\s*event\s/.test(item)
    : typeof item === 'object' && item !== null && 'type' in item && 'inputs' in item;

/** Display names of the recognized kinds. */
export const PASTED_WORDS: Record<Pasted['kind'], string> = {
  'evm-address': 'EVM address',
  'aptos-address': 'Aptos address',
  hash: 'transaction or block hash',
  'move-path': 'Move path',
  block: 'block number',
  'ens-name': 'ENS name',
  'aptos-name': 'Aptos name',
  id: 'stream or delivery ID',
  event: 'event',
  abi: 'ABI',
  addresses: 'addresses',
};
