/** Builds the webhooks that the service would have sent for the demo's past blocks. */
import { type AptosWebhook, type EvmWebhook, describeWebhook } from '@sluice/kit';
import type { PastMatch } from './sqlitePast.ts';
import type { ScriptedTransaction } from '@sluice/testkit';
import { BASE_USDC, BRIDGED_USDC, DEMO_STREAMS, PASSES, USDC, USDT } from './demoStreams.ts';
import { SWAP_TOPIC, type AptosHappening } from './demoBlocks.ts';

/** A transaction with its hash and the position of its logs in the block. */
export interface PlacedTransaction {
  hash: string;
  /** Index of the transaction's first log in the block. */
  logIndex: number;
  transaction: ScriptedTransaction;
}

type Body = Pick<
  PastMatch,
  | 'logs'
  | 'transactions'
  | 'records'
  | 'about'
  | 'transactionHashes'
  | 'bodyHead'
  | 'bodyTail'
  | 'isFinal'
>;
interface Place {
  tag: string;
  streamId: string;
  chain: string;
  block: PastMatch['block'];
}

const TOKENS = new Map([USDT, USDC, BASE_USDC, BRIDGED_USDC].map((each) => [each.address, each]));

const addressOf = (topic: string | undefined): string => `0x${(topic ?? '').slice(26)}`;

const watched = new Map(
  Object.entries(DEMO_STREAMS).map(([tag, { addresses }]) => [
    tag,
    new Set(addresses.map(({ address }) => address)),
  ]),
);

/** Returns the addresses that the stream watches, each once; null if there are none. */
function watchedIn(tag: string, addresses: readonly string[]): string[] | null {
  const found = new Set(addresses.filter((each) => watched.get(tag)?.has(each)));
  return found.size === 0 ? null : [...found];
}

const countOf = (kinds: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(kinds, (kind) => kind)].map(([kind, each]) => [kind, each.length]),
  );

export function toEvmBody(
  { tag, streamId, chain, block }: Place,
  placed: readonly PlacedTransaction[],
): Body {
  const logs: EvmWebhook['logs'] = [];
  const erc20Transfers: EvmWebhook['erc20Transfers'] = [];
  const nftTransfers: EvmWebhook['nftTransfers'] = [];
  for (const { hash: transactionHash, logIndex: first, transaction } of placed) {
    for (const [index, { address, topics, data = '0x' }] of (transaction.logs ?? []).entries()) {
      const [topic0 = null, topic1 = null, topic2 = null, topic3 = null] = topics;
      const logIndex = String(first + index);
      const log = { logIndex, transactionHash, address, data, topic0, topic1, topic2, topic3 };
      const triggeredBy = watchedIn(tag, [address, ...topics.slice(1).map(addressOf)]);
      logs.push({ ...log, triggered_by: triggeredBy });
      const at = { transactionHash, logIndex, contract: address };
      const [from, to] = [addressOf(topics[1]), addressOf(topics[2])];
      const known = TOKENS.get(address);
      if (known !== undefined) {
        erc20Transfers.push({
          ...at,
          triggered_by: triggeredBy,
          from,
          to,
          value: String(BigInt(data)),
          tokenName: known.name,
          tokenSymbol: known.symbol,
          tokenDecimals: String(known.decimals),
          valueWithDecimals: String(Number(BigInt(data)) / 10 ** known.decimals),
          possibleSpam: false,
        });
      } else if (topic0 !== SWAP_TOPIC) {
        nftTransfers.push({
          operator: null,
          from,
          to,
          tokenId: String(BigInt(topic3 ?? 0)),
          amount: '1',
          ...at,
          possibleSpam: false,
          tokenName: PASSES.name,
          tokenSymbol: PASSES.symbol,
          tokenContractType: 'ERC721',
        });
      }
    }
  }
  const draft = DEMO_STREAMS[tag]?.draft;
  const head: Pick<EvmWebhook, 'chainId' | 'abi' | 'streamId' | 'tag'> = {
    chainId: chain,
    abi: draft?.family === 'evm' ? (draft.options.abi ?? []) : [],
    streamId,
    tag,
  };
  const tail: Omit<EvmWebhook, keyof typeof head | 'confirmed' | 'retries'> = {
    block: { number: String(block.number), hash: block.hash, timestamp: String(block.timestamp) },
    logs,
    txs: [],
    txsInternal: [],
    erc20Transfers,
    erc20Approvals: [],
    nftTokenApprovals: [],
    nftApprovals: { ERC721: [], ERC1155: [] },
    nftTransfers,
    nativeBalances: [],
  };
  return {
    logs: logs.length,
    transactions: 0,
    records: countOf(logs.map(({ topic0 }) => topic0 ?? 'anonymous')),
    about: describeWebhook({ ...head, ...tail }),
    transactionHashes: placed.map(({ hash }) => hash),
    bodyHead: head,
    bodyTail: tail,
    isFinal: false,
  };
}

const APT = { decimals: 8, name: 'Aptos Coin', symbol: 'APT', type: '0x1::aptos_coin::AptosCoin' };

export function toAptosBody(
  { tag, streamId, block }: Place,
  hash: string,
  { from, to, amount }: AptosHappening,
): Body {
  const value = String(amount);
  const valueWithDecimals = Number(amount) / 1e8;
  const moved = (address: string) => ({
    value,
    address,
    coin: APT,
    valueWithDecimals,
    sequenceNumber: '0',
    txHash: hash,
  });
  const head: Pick<AptosWebhook, 'streamId' | 'tag' | 'network' | 'block'> = {
    streamId,
    tag,
    network: 'mainnet',
    block: {
      number: String(block.number),
      timestamp: String(block.timestamp * 1_000_000),
      hash: block.hash,
      firstVersion: String((block.lastVersion ?? 0) - 2),
      lastVersion: String(block.lastVersion ?? 0),
    },
  };
  const tail: Omit<AptosWebhook, keyof typeof head | 'retries'> = {
    coinTransfers: [
      { coin: APT, to, value, from, valueWithDecimals, transaction: hash, txHash: hash },
    ],
    coinDeposits: [moved(to)],
    coinWithdrawals: [moved(from)],
    transactions: [
      {
        gasLimit: '2000',
        gasUnitPrice: '100',
        gasUsed: '11',
        hash,
        stateChangeHash: hash.replaceAll('a', '5'),
        eventChangeHash: hash.replaceAll('b', '7'),
        success: true,
        type: 'user_transaction',
        sender: from,
      },
    ],
    changes: [],
    payloads: [],
    events: [],
  };
  return {
    logs: 0,
    transactions: 1,
    records: { '0x1::aptos_account::transfer': 1 },
    about: describeWebhook(tail),
    transactionHashes: [hash],
    bodyHead: head,
    bodyTail: tail,
    isFinal: true,
  };
}
