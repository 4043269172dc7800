/**
 * What the logs of a webhook say in the words of the token standards: the decoded arrays of contract
 * section 2.6, in log order. A log counts by its shape alone (topic 0, number of topics, length of
 * its data), since any contract may emit it; one that does not fit exactly is in no array. What
 * only the token's contract can say (names, symbols, decimals) is the empty text here, as the wire has
 * it where it is not known; enrichment fills it in.
 */
import { type EvmWebhook, keccak256 } from '@sluice/kit/contract';
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

const UNKNOWN = { tokenName: '', tokenSymbol: '' } as const;
const WORD_DIGITS = 64;
const ADDRESS_PADDING = '0'.repeat(24);

/** @param spam contracts whose records are marked `possibleSpam` */
export function decodeTransfers(
  logs: readonly EvmLog[],
  spam: ReadonlySet<string> = new Set(),
): DecodedArrays {
  const arrays: DecodedArrays = {
    erc20Transfers: [],
    erc20Approvals: [],
    nftTokenApprovals: [],
    nftApprovals: { ERC721: [], ERC1155: [] },
    nftTransfers: [],
  };
  for (const log of logs) decodeLog(log, spam.has(log.address), arrays);
  return arrays;
}

function decodeLog(log: EvmLog, possibleSpam: boolean, arrays: DecodedArrays): void {
  const { topics, address: contract, transactionHash } = log;
  const at = { transactionHash, logIndex: String(log.logIndex), contract };
  const words = toWords(log.data);
  const first = toAddress(topics[1]);
  const second = toAddress(topics[2]);
  if (words === undefined || first === undefined || second === undefined) return;
  const [value] = words;

  switch (topics[0] ?? '') {
    case TRANSFER:
      if (topics.length === 3 && words.length === 1) {
        arrays.erc20Transfers.push({
          ...at,
          from: first,
          to: second,
          value: toDecimal(value!),
          ...UNKNOWN,
          tokenDecimals: '',
          possibleSpam,
        });
      } else if (topics.length === 4 && words.length === 0) {
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
      if (topics.length === 3 && words.length === 1) {
        arrays.erc20Approvals.push({
          ...at,
          owner: first,
          spender: second,
          value: toDecimal(value!),
          ...UNKNOWN,
          tokenDecimals: '',
          possibleSpam,
        });
      } else if (topics.length === 4 && words.length === 0) {
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
      if (topics.length !== 3 || words.length !== 1 || !/^0{63}[01]$/.test(value!)) return;
      const approved = value!.endsWith('1');
      // Both standards emit this very event, so the log does not tell which one it is.
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
      const moved = topics[0] === TRANSFER_SINGLE ? toSingle(words) : toBatch(words);
      if (topics.length !== 4 || to === undefined || moved === undefined) return;
      for (const [tokenId, amount] of moved) {
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
    default:
  }
}

type Moved = [tokenId: string, amount: string];

function toSingle(words: readonly string[]): Moved[] | undefined {
  const [id, amount] = words;
  return words.length === 2 ? [[toDecimal(id!), toDecimal(amount!)]] : undefined;
}

/** Two arrays of one length, wherever in the data their offsets say they stand. */
function toBatch(words: readonly string[]): Moved[] | undefined {
  const ids = toArray(words, words[0]);
  const amounts = toArray(words, words[1]);
  if (ids === undefined || amounts === undefined || ids.length !== amounts.length) return undefined;
  return ids.map((id, n) => [toDecimal(id), toDecimal(amounts[n]!)]);
}

function toArray(words: readonly string[], offset: string | undefined): string[] | undefined {
  const start = toSmall(offset);
  if (start === undefined || start % 32 !== 0) return undefined;
  const length = toSmall(words[start / 32]);
  if (length === undefined) return undefined;
  const items = words.slice(start / 32 + 1, start / 32 + 1 + length);
  return items.length === length ? items : undefined;
}

/** A word as a number, where it can be a place in this data at all. */
function toSmall(word: string | undefined): number | undefined {
  return word !== undefined && /^0{56}/.test(word) ? Number.parseInt(word, 16) : undefined;
}

/** The data's 32-byte words without prefix; undefined where it is no whole number of them. */
function toWords(data: string): string[] | undefined {
  const digits = data.slice(2);
  if (digits.length % WORD_DIGITS !== 0) return undefined;
  return digits.match(/.{64}/g) ?? [];
}

/** Undefined for a topic that is absent or has more in it than an address. */
function toAddress(topic: string | undefined): string | undefined {
  return topic?.slice(2, 26) === ADDRESS_PADDING ? `0x${topic.slice(26)}` : undefined;
}

const toDecimal = (word: string): string => BigInt(`0x${word}`).toString();
const topicToDecimal = (topic: string): string => BigInt(topic).toString();
