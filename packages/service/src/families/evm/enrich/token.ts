/** Reads token metadata from the responses of a contract, which may not follow any standard. */
import { cleanText } from '../../../enrich/tokenText.ts';
import type { Token } from '../../../store/enrichment/contract.ts';
import type { StateAnswer, StateCall } from './state.ts';

/**
 * Maximum size of a response; small, because many tokens are queried at once. The longest stored
 * name takes an eighth of it.
 */
const MAX_ANSWER_BYTES = 4 * 1024;
const MAX_DECIMALS = 255n;

const WORD_DIGITS = 64;

/**
 * Call data of the metadata functions, and of ERC-165's `supportsInterface` for both NFT standards.
 */
const QUESTIONS = {
  name: '0x06fdde03',
  symbol: '0x95d89b41',
  decimals: '0x313ce567',
  isErc721: supportsInterface('80ac58cd'),
  isErc1155: supportsInterface('d9b67a26'),
} as const;

function supportsInterface(id: string): string {
  return `0x01ffc9a7${id.padEnd(WORD_DIGITS, '0')}`;
}

export const TOKEN_CALLS = Object.keys(QUESTIONS).length;

/** Returns the calls for {@link readToken}, which needs their results in this order. */
export function tokenCalls(address: string): StateCall[] {
  return Object.values(QUESTIONS).map((data) => ({
    to: address,
    data,
    maxBytes: MAX_ANSWER_BYTES,
  }));
}

/**
 * Returns the token; undefined if the nodes refused a call, which proves nothing about the token.
 */
export function readToken(
  address: string,
  blockNumber: number,
  answers: readonly StateAnswer[],
): Token | undefined {
  if (answers.some(({ outcome }) => outcome === 'refused')) return undefined;
  const [name, symbol, decimals, isErc721, isErc1155] = answers.map((answer) =>
    answer.outcome === 'read' ? answer.value : '0x',
  );
  return {
    address,
    name: readText(name!),
    symbol: readText(symbol!),
    decimals: readDecimals(decimals!),
    standard: readStandard(isTrue(isErc721!), isTrue(isErc1155!)),
    blockNumber,
  };
}

/**
 * Returns the NFT standard. A contract that claims to support both standards likely claims to
 * support every interface, so neither claim counts.
 */
function readStandard(isErc721: boolean, isErc1155: boolean): Token['standard'] {
  if (isErc721 === isErc1155) return '';
  return isErc721 ? 'ERC721' : 'ERC1155';
}

/**
 * Decodes an ABI-encoded `string`, or the `bytes32` of early tokens. Returns an empty string for
 * other data.
 */
export function readText(data: string): string {
  const digits = data.slice(2);
  if (digits.length === WORD_DIGITS)
    return toText(/^(?:(?:00)*(?:0[1-9a-f]|[1-9a-f][\da-f]))*/i.exec(digits)![0]);
  const start = sizeAt(digits, 0);
  const length = start === undefined ? undefined : sizeAt(digits, start * 2);
  if (start === undefined || length === undefined) return '';
  const from = start * 2 + WORD_DIGITS;
  if (from + length * 2 > digits.length) return '';
  return toText(digits.slice(from, from + length * 2));
}

/**
 * Reads the 32-byte word at this digit as an offset or a length; undefined if it is incomplete or
 * exceeds 4 bytes.
 */
function sizeAt(digits: string, at: number): number | undefined {
  const word = digits.slice(at, at + WORD_DIGITS);
  return /^0{56}[0-9a-f]{8}$/.test(word) ? Number.parseInt(word, 16) : undefined;
}

const toText = (digits: string): string => cleanText(Buffer.from(digits, 'hex').toString('utf8'));

function readDecimals(data: string): number | null {
  if (data.length < 2 + WORD_DIGITS) return null;
  const value = BigInt(data.slice(0, 2 + WORD_DIGITS));
  return value <= MAX_DECIMALS ? Number(value) : null;
}

const TRUE = `0x${'1'.padStart(WORD_DIGITS, '0')}`;
const isTrue = (data: string): boolean => data.slice(0, 2 + WORD_DIGITS) === TRUE;
