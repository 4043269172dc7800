/** Recognizes pasted text by its format. */
import type { NetworkType } from '@sluice/kit';
import { partOfUrl } from '@sluice/kit/contract';
import { FAMILY_OF_HASH, recognizeOfFamily } from '../families/words.ts';
import type { Pasted } from './pasted.ts';

const HASH = /^0x[0-9a-fA-F]{64}$/;
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
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
  if (HASH.test(text)) return { kind: 'hash', hash: text.toLowerCase() };
  if (UUID.test(text)) return { kind: 'id', id: text.toLowerCase() };
  if (BLOCK.test(text)) {
    const number = Number(text.replace(/\D/g, ''));
    return number <= MAX_BLOCK ? { kind: 'block', number } : undefined;
  }
  const pasted = recognizeOfFamily(text);
  if (pasted !== undefined) return pasted;
  const addresses = text.match(/\b0x(?:[0-9a-fA-F]{24})?[0-9a-fA-F]{40}\b/g);
  if (addresses !== null && addresses.length > 1) {
    return { kind: 'addresses', text, count: addresses.length };
  }
  return undefined;
}

/** Returns the pasted address; undefined for other text. A hash may be an address. */
export function toAddress(
  pasted: Pasted | undefined,
): { family: NetworkType; address: string } | undefined {
  if (pasted?.kind === 'address') return { family: pasted.family, address: pasted.address };
  if (pasted?.kind === 'hash') return { family: FAMILY_OF_HASH, address: pasted.hash };
  return undefined;
}

/** Returns the query for Explain; undefined if Explain does not accept the pasted text. */
export function toQuestion(pasted: Pasted | undefined): string | undefined {
  switch (pasted?.kind) {
    case 'address':
      return pasted.address;
    case 'hash':
      return pasted.hash;
    case 'block':
      return String(pasted.number);
    case 'id':
      return pasted.id;
    case 'name':
      return pasted.isResolved ? pasted.name : undefined;
    case 'event':
    case 'addresses':
    case undefined:
      return undefined;
  }
}

const WORDS = {
  hash: 'transaction or block hash',
  block: 'block number',
  id: 'stream or delivery ID',
  addresses: 'addresses',
};

/** Returns the display name of the recognized format. */
export const describePasted = (pasted: Pasted): string =>
  'what' in pasted ? pasted.what : WORDS[pasted.kind];
