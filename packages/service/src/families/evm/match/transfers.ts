/**
 * Decodes the events of token standards into the transfer and approval lists of a webhook, in log
 * order. Recognizes logs by their topics and data; only native transfers and transfers without
 * indexed parameters by their contract. Names, symbols and decimals are left empty for enrichment,
 * except for the native currency.
 */
import {
  type EvmWebhook,
  NATIVE_DECIMALS,
  NATIVE_EMITTER,
  findEvmChain,
  keccak256,
  toNativeTransfer,
} from '@sluice/kit/contract';
import { toValueWithDecimals } from '../../../base/valueWithDecimals.ts';
import type { EvmLog } from './block.ts';

export type DecodedArrays = Pick<
  EvmWebhook,
  'erc20Transfers' | 'erc20Approvals' | 'nftTokenApprovals' | 'nftApprovals' | 'nftTransfers'
>;

const TRANSFER = keccak256('Transfer(address,address,uint256)');
const APPROVAL = keccak256('Approval(address,address,uint256)');
const APPROVAL_FOR_ALL = keccak256('ApprovalForAll(address,address,bool)');
const TRANSFER_SINGLE = keccak256('TransferSingle(address,address,address,uint256,uint256)');
const TRANSFER_BATCH = keccak256('TransferBatch(address,address,address,uint256[],uint256[])');
const CONSECUTIVE_TRANSFER = keccak256('ConsecutiveTransfer(uint256,uint256,address,address)');
const ERC6909_TRANSFER = keccak256('Transfer(address,address,address,uint256,uint256)');

const UNKNOWN = { tokenName: '', tokenSymbol: '' } as const;
const WORD_DIGITS = 64;

interface TransferContext {
  /** Chain of the logs, as a hex id. */
  chain: string;
  /** Contracts whose records are marked `possibleSpam`. */
  spam?: ReadonlySet<string> | undefined;
  /**
   * Returns whether the body already reports a native transfer, as the value of a transaction or
   * internal transaction. Such a transfer is not listed again.
   */
  isReported?:
    | ((log: EvmLog, transfer: { from: string; to: string; value: bigint }) => boolean)
    | undefined;
  /**
   * Returns `triggered_by` of the transfers of a log. Default: ERC-20 transfers do not have this
   * field.
   */
  triggersOf?: ((log: EvmLog) => string[] | null) | undefined;
}

export function decodeTransfers(logs: readonly EvmLog[], context: TransferContext): DecodedArrays {
  const arrays: DecodedArrays = {
    erc20Transfers: [],
    erc20Approvals: [],
    nftTokenApprovals: [],
    nftApprovals: { ERC721: [], ERC1155: [] },
    nftTransfers: [],
  };
  for (const log of logs) {
    const native = log.address === NATIVE_EMITTER ? toNativeTransfer(log) : undefined;
    if (native === undefined) decodeLog(log, context, arrays);
    else if (!context.isReported?.(log, native)) {
      const { from, to, value } = native;
      const currency = findEvmChain(context.chain)?.currency ?? 'native';
      arrays.erc20Transfers.push({
        ...placeOf(log),
        ...(context.triggersOf && { triggered_by: context.triggersOf(log) }),
        from,
        to,
        value: String(value),
        tokenName: currency,
        tokenSymbol: currency,
        tokenDecimals: String(NATIVE_DECIMALS),
        possibleSpam: false,
        valueWithDecimals: toValueWithDecimals(String(value), NATIVE_DECIMALS),
      });
    }
  }
  return arrays;
}

const placeOf = ({ transactionHash, logIndex, address }: EvmLog) => ({
  transactionHash,
  logIndex: String(logIndex),
  contract: address,
});

function decodeLog(
  log: EvmLog,
  { chain, spam, triggersOf }: TransferContext,
  arrays: DecodedArrays,
): void {
  const possibleSpam = spam?.has(log.address) ?? false;
  const at = placeOf(log);
  const topics = topicsOf(chain, log);
  const digits = topics === log.topics ? log.data.slice(2) : '';
  const words = digits.length / WORD_DIGITS;
  const first = toAddress(topics[1]);
  const second = toAddress(topics[2]);
  if (!Number.isInteger(words) || first === undefined || second === undefined) return;
  const value = wordAt(digits, 0);

  switch (topics[0] ?? '') {
    case TRANSFER:
      if (topics.length === 3 && words === 1) {
        arrays.erc20Transfers.push({
          ...at,
          ...(triggersOf && { triggered_by: triggersOf(log) }),
          from: first,
          to: second,
          value: toDecimal(value),
          ...UNKNOWN,
          tokenDecimals: '',
          possibleSpam,
        });
      } else if (topics.length === 4 && words === 0) {
        arrays.nftTransfers.push({
          operator: null,
          from: first,
          to: second,
          tokenId: topicToDecimal(topics[3]!),
          amount: '1',
          ...at,
          possibleSpam,
          ...UNKNOWN,
          tokenContractType: 'ERC721',
        });
      }
      return;
    case APPROVAL:
      if (topics.length === 3 && words === 1) {
        arrays.erc20Approvals.push({
          ...at,
          owner: first,
          spender: second,
          value: toDecimal(value),
          ...UNKNOWN,
          tokenDecimals: '',
          possibleSpam,
        });
      } else if (topics.length === 4 && words === 0) {
        const tokenId = topicToDecimal(topics[3]!);
        const token = { ...UNKNOWN, tokenContractType: 'ERC721' };
        arrays.nftApprovals.ERC721.push({
          ...at,
          owner: first,
          approved: second,
          tokenId,
          ...token,
        });
        arrays.nftTokenApprovals.push({
          ...at,
          account: first,
          operator: second,
          approvedAll: false,
          tokenId,
          possibleSpam,
          ...token,
        });
      }
      return;
    case APPROVAL_FOR_ALL: {
      if (topics.length !== 3 || words !== 1 || !/^0{63}[01]$/.test(value)) return;
      const approved = value.endsWith('1');
      // ERC-721 and ERC-1155 both have this event, so the log does not show the standard.
      const token = { ...UNKNOWN, tokenContractType: '' };
      const parties = { account: first, operator: second };
      arrays.nftApprovals.ERC1155.push({ ...at, ...parties, approved, ...token });
      arrays.nftTokenApprovals.push({
        ...at,
        ...parties,
        approvedAll: approved,
        tokenId: null,
        possibleSpam,
        ...token,
      });
      return;
    }
    case TRANSFER_SINGLE:
    case TRANSFER_BATCH: {
      const to = toAddress(topics[3]);
      if (topics.length !== 4 || to === undefined) return;
      for (const [tokenId, amount] of topics[0] === TRANSFER_SINGLE
        ? readSingle(digits)
        : readBatch(digits)) {
        arrays.nftTransfers.push({
          operator: first,
          from: second,
          to,
          tokenId,
          amount,
          ...at,
          possibleSpam,
          ...UNKNOWN,
          tokenContractType: 'ERC1155',
        });
      }
      return;
    }
    case CONSECUTIVE_TRANSFER: {
      const to = toAddress(topics[3]);
      if (topics.length !== 4 || words !== 1 || to === undefined) return;
      const tokenId = BigInt(topics[1]!);
      const toTokenId = BigInt(`0x${value}`);
      if (toTokenId < tokenId) return;
      arrays.nftTransfers.push({
        operator: null,
        from: second,
        to,
        tokenId: String(tokenId),
        amount: String(toTokenId - tokenId + 1n),
        ...at,
        possibleSpam,
        ...UNKNOWN,
        tokenContractType: 'ERC721',
        toTokenId: String(toTokenId),
      });
      return;
    }
    case ERC6909_TRANSFER:
      if (topics.length !== 4 || words !== 2) return;
      arrays.nftTransfers.push({
        operator: toAddress(`0x${value}`)!,
        from: first,
        to: second,
        tokenId: topicToDecimal(topics[3]!),
        amount: toDecimal(wordAt(digits, 1)),
        ...at,
        possibleSpam,
        ...UNKNOWN,
        tokenContractType: 'ERC6909',
      });
      return;
    default:
  }
}

type Moved = [tokenId: string, amount: string];

const readSingle = (digits: string): Moved[] =>
  digits.length === 2 * WORD_DIGITS
    ? [[toDecimal(wordAt(digits, 0)), toDecimal(wordAt(digits, 1))]]
    : [];

function* readBatch(digits: string): Generator<Moved> {
  const batch = findBatch(digits);
  if (batch === undefined || batch === 'overlapping') return;
  for (let n = 0; n < batch.length; n++) {
    yield [toDecimal(wordAt(digits, batch.ids + n)), toDecimal(wordAt(digits, batch.amounts + n))];
  }
}

interface Batch {
  /** Word positions of the first item of each array. */
  ids: number;
  amounts: number;
  /** Length of each array. */
  length: number;
}

/**
 * Finds the two arrays of a batch through their offsets. The arrays must have equal lengths. They
 * must not overlap with each other or with the offsets, so that the size of the log limits the
 * number of transfers.
 */
function findBatch(digits: string): Batch | 'overlapping' | undefined {
  const ids = findArray(digits, 0);
  const amounts = findArray(digits, 1);
  if (ids === undefined || amounts === undefined || ids.length !== amounts.length) return undefined;
  const [lower, upper] = ids.at < amounts.at ? [ids, amounts] : [amounts, ids];
  const isApart = lower.at > OFFSETS && lower.at + lower.length < upper.at;
  return isApart ? { ids: ids.at, amounts: amounts.at, length: ids.length } : 'overlapping';
}

/** Number of offset words at the start of a batch's data. */
const OFFSETS = 2;

/**
 * Returns the word position of an array's first item, and the number of items; undefined if the
 * array is not within the data.
 */
function findArray(digits: string, head: number): { at: number; length: number } | undefined {
  const start = toSmall(wordAt(digits, head));
  if (start === undefined || start % 32 !== 0) return undefined;
  const at = start / 32 + 1;
  const length = toSmall(wordAt(digits, at - 1));
  if (length === undefined || (at + length) * WORD_DIGITS > digits.length) return undefined;
  return { at, length };
}

const batchOf = ({ topics, data }: EvmLog): Batch | 'overlapping' | undefined =>
  topics[0] === TRANSFER_BATCH && topics.length === 4 && (data.length - 2) % WORD_DIGITS === 0
    ? findBatch(data.slice(2))
    : undefined;

/**
 * Returns whether the log is a batch of transfers with overlapping arrays. Such a batch is not
 * decoded.
 */
export const hasOverlap = (log: EvmLog): boolean => batchOf(log) === 'overlapping';

/** Returns the number of transfers in a batch; 0 for a log that can't be decoded as a batch. */
export function countBatch(log: EvmLog): number {
  const batch = batchOf(log);
  return typeof batch === 'object' ? batch.length : 0;
}

/** Converts a word to a number; undefined if it exceeds 32 bits and so can't be a position. */
function toSmall(word: string): number | undefined {
  return /^0{56}[0-9a-f]{8}$/.test(word) ? Number.parseInt(word, 16) : undefined;
}

/** Returns a word of the data. Past the end of the data, the word is incomplete or empty. */
const wordAt = (digits: string, n: number): string =>
  digits.slice(n * WORD_DIGITS, (n + 1) * WORD_DIGITS);

/**
 * Returns the address in a topic; undefined if the topic is missing. Like Solidity, ignores the
 * bits before the address.
 */
const toAddress = (topic: string | undefined): string | undefined =>
  topic && `0x${topic.slice(26)}`;

const toDecimal = (word: string): string => BigInt(`0x${word}`).toString();
const topicToDecimal = (topic: string): string => BigInt(topic).toString();

/**
 * NFT contracts whose transfers and approvals have no indexed parameters, so that the parties are in
 * the data, by chain. They are listed, because the log does not show whether the third parameter is
 * an amount or a token, and because nodes cannot search the data of logs.
 */
const UNINDEXED: Readonly<Record<string, readonly string[]>> = {
  // CryptoKitties
  '0x1': ['0x06012c8cf97bead5deae237070f9587f8e7a266d'],
};

/** Number of hex digits of three words. */
const DATA_DIGITS = 3 * 64;

/**
 * Returns the topics of a log. For a transfer or approval without indexed parameters, appends the
 * words of the data, so that the topics are those of ERC-721.
 */
export function topicsOf(chain: string, { address, topics, data }: EvmLog): readonly string[] {
  const [event = '', ...indexed] = topics;
  const isUnindexed =
    indexed.length === 0 &&
    data.length === 2 + DATA_DIGITS &&
    (event === TRANSFER || event === APPROVAL) &&
    UNINDEXED[chain]?.includes(address);
  if (!isUnindexed) return topics;
  return [event, ...[2, 66, 130].map((at) => `0x${data.slice(at, at + 64)}`)];
}

/** Returns the filters that find these logs, for a search by the given events. */
export function unindexedFilters(
  chain: string,
  events: readonly string[] | null,
): { address: readonly string[]; topics: readonly (readonly string[])[] }[] {
  const address = UNINDEXED[chain];
  const wanted = [TRANSFER, APPROVAL].filter((event) => events === null || events.includes(event));
  return address === undefined || wanted.length === 0 ? [] : [{ address, topics: [wanted] }];
}
