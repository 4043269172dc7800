/**
 * Reads blocks and decodes them to the wire format with viem alone, so that the expected values
 * share no code with the service.
 */
import type {
  EvmWebhook,
  WebhookBlock,
  WebhookErc20Transfer,
  WebhookInternalTransaction,
  WebhookLog,
  WebhookTransaction,
} from '@sluice/kit/contract';
import {
  type Abi,
  type Address,
  type ContractEventName,
  type DecodeEventLogReturnType,
  type Hex,
  type Log,
  type PublicClient,
  type TransactionReceipt,
  decodeEventLog,
  formatEther,
  formatUnits,
  hexToString,
  numberToHex,
  parseAbi,
} from 'viem';

/** A block with its logs, transactions and internal transactions, in wire format. */
export interface ChainView {
  number: number;
  block: WebhookBlock;
  logs: WebhookLog[];
  txs: WebhookTransaction[];
  txsInternal: WebhookInternalTransaction[];
}

export async function readChainView(client: PublicClient, number: number): Promise<ChainView> {
  const block = await client.getBlock({ blockNumber: BigInt(number), includeTransactions: true });
  const receipts = await Promise.all(
    block.transactions.map(({ hash }) => client.getTransactionReceipt({ hash })),
  );
  const txs = block.transactions.map((transaction, n): WebhookTransaction => {
    const receipt = receipts[n]!;
    return {
      hash: transaction.hash,
      gas: `${transaction.gas}`,
      gasPrice: `${receipt.effectiveGasPrice}`,
      nonce: `${transaction.nonce}`,
      input: transaction.input,
      transactionIndex: `${n}`,
      fromAddress: transaction.from.toLowerCase(),
      toAddress: transaction.to?.toLowerCase() ?? null,
      value: `${transaction.value}`,
      type: `${Number(transaction.typeHex)}`,
      v: `${transaction.v}`,
      r: `${BigInt(transaction.r)}`,
      s: `${BigInt(transaction.s)}`,
      receiptCumulativeGasUsed: `${receipt.cumulativeGasUsed}`,
      receiptGasUsed: `${receipt.gasUsed}`,
      receiptContractAddress: receipt.contractAddress?.toLowerCase() ?? null,
      receiptRoot: null,
      receiptStatus: receipt.status === 'success' ? '1' : '0',
      transactionFee: formatEther(receipt.gasUsed * receipt.effectiveGasPrice),
    };
  });
  return {
    number,
    block: { number: `${number}`, hash: block.hash, timestamp: `${block.timestamp}` },
    logs: receipts.flatMap(({ logs }: TransactionReceipt) => logs.map(toWire)),
    txs,
    txsInternal: await readInternal(client, number),
  };
}

const toWire = ({ logIndex, transactionHash, address, data, topics }: Log): WebhookLog => {
  const [topic0 = null, topic1 = null, topic2 = null, topic3 = null] = topics as string[];
  return {
    logIndex: `${logIndex}`,
    transactionHash: transactionHash!,
    address: address.toLowerCase(),
    data,
    topic0,
    topic1,
    topic2,
    topic3,
  };
};

interface Trace {
  type: string;
  error?: string;
  traceAddress: number[];
  transactionHash: string;
  action: { callType?: string; from?: string; to?: string; value?: Hex; gas?: Hex } & {
    address?: string;
    refundAddress?: string;
    balance?: Hex;
  };
  result?: { address?: string } | null;
}

/**
 * Reads internal transactions with `trace_block`, independently of the service, which uses
 * `debug_traceBlockByHash`.
 */
async function readInternal(
  client: PublicClient,
  number: number,
): Promise<WebhookInternalTransaction[]> {
  const traces = await client.request<{
    Method: 'trace_block';
    Parameters: [Hex];
    ReturnType: Trace[];
  }>({ method: 'trace_block', params: [numberToHex(number)] });
  const undone = traces.filter(({ error }) => error !== undefined);
  const found: WebhookInternalTransaction[] = [];
  for (const { type, transactionHash, traceAddress, action, result } of traces) {
    const isUndone = undone.some(
      (other) =>
        other.transactionHash === transactionHash &&
        other.traceAddress.every((step, n) => traceAddress[n] === step),
    );
    const moves = type !== 'call' || action.callType === 'call';
    const value = BigInt(action.value ?? action.balance ?? 0);
    if (isUndone || !moves || value === 0n || traceAddress.length === 0) continue;
    const before = found.filter((each) => each.transactionHash === transactionHash).length;
    found.push({
      from: (action.from ?? action.address!).toLowerCase(),
      to: (action.to ?? action.refundAddress ?? result!.address!).toLowerCase(),
      value: `${value}`,
      gas: `${BigInt(action.gas ?? 0)}`,
      transactionHash,
      internalTransactionIndex: `${before}`,
    });
  }
  return found;
}

const EVENTS = {
  erc20: parseAbi([
    'event Transfer(address indexed from, address indexed to, uint256 value)',
    'event Approval(address indexed owner, address indexed spender, uint256 value)',
  ]),
  erc721: parseAbi([
    'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
    'event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)',
  ]),
  forAll: parseAbi([
    'event ApprovalForAll(address indexed account, address indexed operator, bool approved)',
  ]),
  erc1155: parseAbi([
    'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
    'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  ]),
};

/** Decodes a log with this ABI. Returns undefined if viem cannot decode it. */
export function readEvent<const A extends Abi>(
  abi: A,
  { topic0, topic1, topic2, topic3, data }: WebhookLog,
): DecodeEventLogReturnType<A, ContractEventName<A>, Hex[], Hex, true> | undefined {
  const topics = [topic0, topic1, topic2, topic3].filter((topic) => topic !== null);
  try {
    return decodeEventLog({ abi, topics: topics as [Hex], data: data as Hex, strict: true });
  } catch {
    return undefined;
  }
}

type Decoded = Pick<
  EvmWebhook,
  'erc20Transfers' | 'erc20Approvals' | 'nftTokenApprovals' | 'nftApprovals' | 'nftTransfers'
>;

/**
 * Derives the transfers and approvals of tokens from the logs, with the metadata of the tokens at
 * that block.
 */
export async function decodeTokens(
  client: PublicClient,
  number: number,
  logs: readonly WebhookLog[],
): Promise<Decoded> {
  const tokens = createTokenReader(client, BigInt(number));
  const decoded: Decoded = {
    erc20Transfers: [],
    erc20Approvals: [],
    nftTokenApprovals: [],
    nftApprovals: { ERC721: [], ERC1155: [] },
    nftTransfers: [],
  };
  for (const log of logs) {
    const at = {
      transactionHash: log.transactionHash,
      logIndex: log.logIndex,
      contract: log.address,
    };
    const erc20 = readEvent(EVENTS.erc20, log);
    if (erc20 !== undefined) {
      const { name, symbol, decimals } = await tokens(log.address);
      const { value } = erc20.args;
      const rest: Omit<WebhookErc20Transfer, keyof typeof at | 'from' | 'to'> = {
        value: `${value}`,
        tokenName: name,
        tokenSymbol: symbol,
        tokenDecimals: decimals === undefined ? '' : `${decimals}`,
        possibleSpam: false,
        ...(decimals !== undefined && { valueWithDecimals: toText(formatUnits(value, decimals)) }),
      };
      if (erc20.eventName === 'Transfer') {
        const { from, to } = lower(erc20.args);
        decoded.erc20Transfers.push({ ...at, from, to, ...rest });
      } else {
        const { owner, spender } = lower(erc20.args);
        decoded.erc20Approvals.push({ ...at, owner, spender, ...rest });
      }
    }
    const nft = readEvent(EVENTS.erc721, log);
    if (nft !== undefined) {
      const { name: tokenName, symbol: tokenSymbol } = await tokens(log.address);
      const token = { tokenName, tokenSymbol, tokenContractType: 'ERC721' };
      const tokenId = `${nft.args.tokenId}`;
      if (nft.eventName === 'Transfer') {
        const { from, to } = lower(nft.args);
        decoded.nftTransfers.push({
          operator: null,
          from,
          to,
          tokenId,
          amount: '1',
          ...at,
          possibleSpam: false,
          ...token,
        });
      } else {
        const { owner, approved } = lower(nft.args);
        decoded.nftApprovals.ERC721.push({ ...at, owner, approved, tokenId, ...token });
        decoded.nftTokenApprovals.push({
          ...at,
          account: owner,
          operator: approved,
          approvedAll: false,
          tokenId,
          possibleSpam: false,
          ...token,
        });
      }
    }
    const forAll = readEvent(EVENTS.forAll, log);
    if (forAll !== undefined) {
      const { name: tokenName, symbol: tokenSymbol, standard } = await tokens(log.address);
      const token = { tokenName, tokenSymbol, tokenContractType: standard };
      const { account, operator } = lower(forAll.args);
      const { approved } = forAll.args;
      decoded.nftApprovals.ERC1155.push({ ...at, account, operator, approved, ...token });
      decoded.nftTokenApprovals.push({
        ...at,
        account,
        operator,
        approvedAll: approved,
        tokenId: null,
        possibleSpam: false,
        ...token,
      });
    }
    const items = readEvent(EVENTS.erc1155, log);
    if (items !== undefined) {
      const { name: tokenName, symbol: tokenSymbol } = await tokens(log.address);
      const moved =
        items.eventName === 'TransferSingle'
          ? [[items.args.id, items.args.value] as const]
          : items.args.ids.map((id, n) => [id, items.args.values[n]!] as const);
      const { operator, from, to } = lower(items.args);
      for (const [tokenId, amount] of moved) {
        decoded.nftTransfers.push({
          operator,
          from,
          to,
          tokenId: `${tokenId}`,
          amount: `${amount}`,
          ...at,
          possibleSpam: false,
          tokenName,
          tokenSymbol,
          tokenContractType: 'ERC1155',
        });
      }
    }
  }
  return decoded;
}

/** Converts arguments to lowercase strings, as in the wire format. */
const lower = <T extends object>(args: T): { [K in keyof T]: string } =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, String(value).toLowerCase()]),
  ) as { [K in keyof T]: string };

interface TokenView {
  name: string;
  symbol: string;
  decimals: number | undefined;
  standard: string;
}

const METADATA = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function supportsInterface(bytes4) view returns (bool)',
]);
const OLD_METADATA = parseAbi([
  'function name() view returns (bytes32)',
  'function symbol() view returns (bytes32)',
]);
/**
 * ABI that reads strings as bytes, because a string may be invalid UTF-8. Both types have the same
 * encoding.
 */
const RAW_METADATA = parseAbi([
  'function name() view returns (bytes)',
  'function symbol() view returns (bytes)',
]);

/** Decodes UTF-8 and drops invalid bytes, as in the wire format. */
const toReadable = (bytes: Hex): string =>
  new TextDecoder().decode(Buffer.from(bytes.slice(2), 'hex')).replaceAll('\u{fffd}', '');

function createTokenReader(client: PublicClient, blockNumber: bigint) {
  const ask = async <T>(question: Promise<T>): Promise<T | undefined> =>
    question.catch(() => undefined);
  return async (contract: string): Promise<TokenView> => {
    const address = contract as Address;
    const at = { address, blockNumber } as const;
    const text = async (functionName: 'name' | 'symbol'): Promise<string> => {
      const raw = await ask(client.readContract({ ...at, abi: RAW_METADATA, functionName }));
      if (raw !== undefined) return toReadable(raw);
      const old = await ask(client.readContract({ ...at, abi: OLD_METADATA, functionName }));
      return old === undefined ? '' : hexToString(old, { size: 32 });
    };
    const is = (id: Hex) =>
      ask(
        client.readContract({
          ...at,
          abi: METADATA,
          functionName: 'supportsInterface',
          args: [id],
        }),
      );
    return {
      name: await text('name'),
      symbol: await text('symbol'),
      decimals: await ask(client.readContract({ ...at, abi: METADATA, functionName: 'decimals' })),
      standard: (await is('0x80ac58cd')) ? 'ERC721' : (await is('0xd9b67a26')) ? 'ERC1155' : '',
    };
  };
}

/** Formats a decimal number like bignumber.js: with an exponent from 1e21 on, and below 1e-6. */
function toText(plain: string): string {
  const [whole = '', fraction = ''] = plain.split('.');
  const first = whole === '0' ? -1 - fraction.search(/[1-9]/) : whole.length - 1;
  if (plain === '0' || (first < 21 && first > -7)) return plain;
  const digits = (whole + fraction).replace(/^0+|0+$/g, '');
  const mantissa = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits;
  return `${mantissa}e${first > 0 ? '+' : ''}${first}`;
}
