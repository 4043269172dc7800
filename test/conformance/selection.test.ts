/**
 * Tests end to end, with two real chains, which records a stream selects by flags and filters. The
 * expected records are computed from blocks that viem reads.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import type {
  AbiItem,
  CreateEvmStream,
  EvmWebhook,
  WebhookInternalTransaction,
  WebhookLog,
  WebhookTransaction,
} from '@sluice/kit/contract';
import { createSluiceClient } from '@sluice/kit/sluice';
import {
  type Anvil,
  type WebhookSink,
  crier,
  sluiceToken,
  startAnvil,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { type Abi, type Address, type Hex, createPublicClient, http, pad, parseAbi } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';
import { type ChainView, readChainView, readEvent } from './chainView.ts';
import {
  type Contracts,
  call,
  deployEveryKind,
  friend,
  heir,
  mine,
  mineEveryKind,
  owner,
  stranger,
} from './everyKind.ts';

const A = '0x7a69';
const B = '0x7a6a';
const CONFIRMATIONS = 2;

const TRANSFER = 'Transfer(address,address,uint256)';
const APPROVAL = 'Approval(address,address,uint256)';
const APPROVAL_FOR_ALL = 'ApprovalForAll(address,address,bool)';
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const APPROVAL_TOPIC = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';

const erc20 = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
  'event ApprovalForAll(address indexed account, address indexed operator, bool approved)',
]);
const erc721 = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
]);
const toItems = (...abis: Abi[]): AbiItem[] => abis.flat() as unknown as AbiItem[];

/** Chain, block and contracts of a record. */
interface Place {
  chain: string;
  view: ChainView;
  contracts: Contracts;
}

interface Row {
  name: string;
  options: Partial<CreateEvmStream> | ((contracts: Contracts) => Partial<CreateEvmStream>);
  /** Watched addresses. Default: none. */
  addresses?: (contracts: Contracts) => Address[];
  /**
   * Returns whether a log is expected. `txs` and `internal` do the same for their records. Without
   * a function, no record of that kind is expected.
   */
  logs?: (log: WebhookLog, place: Place) => boolean;
  txs?: (tx: WebhookTransaction, place: Place) => boolean;
  internal?: (call: WebhookInternalTransaction, place: Place) => boolean;
  /** Whether no record is expected. All other rows must expect at least one. */
  takesNothing?: true;
  phases?: ('unconfirmed' | 'confirmed')[];
}

// The matching rules of the API contract

const names = (who: Address, { address, topic1, topic2, topic3 }: WebhookLog): boolean =>
  address === who || [topic1, topic2, topic3].includes(pad(who));
const moves = (who: Address, { fromAddress, toAddress }: WebhookTransaction): boolean =>
  fromAddress === who || toAddress === who;
const passes = (who: Address, { from, to }: WebhookInternalTransaction): boolean =>
  from === who || to === who;
/** Returns whether the transaction has a log that `takes` accepts. */
const hasLog = (hash: string, place: Place, takes: (log: WebhookLog, place: Place) => boolean) =>
  place.view.logs.some((log) => log.transactionHash === hash && takes(log, place));

const isTransfer = ({ topic0 }: WebhookLog): boolean => topic0 === TRANSFER_TOPIC;
const isFungible = (log: WebhookLog): boolean =>
  isTransfer(log) && log.topic3 === null && log.topic2 !== null;

const flags: Row[] = [
  {
    name: 'includeContractLogs: logs emitted by a contract',
    options: { includeContractLogs: true },
    addresses: ({ erc20 }) => [erc20],
    logs: (log, { contracts }) => log.address === contracts.erc20,
  },
  {
    name: 'includeContractLogs: logs with an account in a topic',
    options: { includeContractLogs: true },
    addresses: () => [friend],
    logs: (log) => names(friend, log),
  },
  {
    name: 'includeNativeTxs: transactions from or to an account',
    options: { includeNativeTxs: true },
    addresses: () => [stranger],
    txs: (tx) => moves(stranger, tx),
  },
  {
    name: 'includeNativeTxs: transactions to a contract',
    options: { includeNativeTxs: true },
    addresses: ({ erc721 }) => [erc721],
    txs: (tx, { contracts }) => tx.toAddress === contracts.erc721,
  },
  {
    name: 'includeInternalTxs: transfers to an account',
    options: { includeInternalTxs: true },
    addresses: () => [heir],
    internal: (call) => call.to === heir,
  },
  {
    name: 'includeInternalTxs: transfers from a contract',
    options: { includeInternalTxs: true },
    addresses: ({ mover }) => [mover],
    internal: (call, { contracts }) => passes(contracts.mover, call),
  },
  {
    name: 'all three flags',
    options: { includeContractLogs: true, includeNativeTxs: true, includeInternalTxs: true },
    addresses: () => [friend],
    logs: (log) => names(friend, log),
    txs: (tx) => moves(friend, tx),
    internal: (call) => passes(friend, call),
  },
  {
    name: 'several addresses',
    options: { includeContractLogs: true, includeNativeTxs: true },
    addresses: ({ odd }) => [odd, stranger],
    logs: (log, { contracts }) => names(contracts.odd, log) || names(stranger, log),
    txs: (tx, { contracts }) => moves(contracts.odd, tx) || moves(stranger, tx),
  },
  {
    name: 'no flag: nothing',
    options: {},
    addresses: () => [owner, friend],
    takesNothing: true,
  },
  {
    name: 'an unused address: nothing',
    options: { includeContractLogs: true, includeNativeTxs: true, includeInternalTxs: true },
    addresses: () => [pad('0xbad', { size: 20 })],
    takesNothing: true,
  },
  {
    name: 'includeAllTxLogs with includeNativeTxs: every log of the transactions',
    options: { includeNativeTxs: true, includeAllTxLogs: true },
    addresses: ({ crier }) => [crier],
    logs: ({ transactionHash }, { contracts, view }) =>
      view.txs.some((tx) => tx.hash === transactionHash && moves(contracts.crier, tx)),
    txs: (tx, { contracts }) => moves(contracts.crier, tx),
  },
  {
    name: "includeAllTxLogs with includeContractLogs: every log of the matched logs' transactions",
    options: { includeContractLogs: true, includeAllTxLogs: true, topic0: [APPROVAL] },
    addresses: ({ crier }) => [crier],
    logs: ({ transactionHash }, place) =>
      hasLog(
        transactionHash,
        place,
        (log) => log.topic0 === APPROVAL_TOPIC && names(place.contracts.crier, log),
      ),
  },
  {
    name: "includeAllTxLogs with includeInternalTxs: every log of the matched calls' transactions",
    options: {
      includeInternalTxs: true,
      includeContractLogs: true,
      includeAllTxLogs: true,
      topic0: [APPROVAL],
    },
    addresses: () => [heir],
    logs: ({ transactionHash }, { view }) =>
      view.txsInternal.some(
        (call) => call.transactionHash === transactionHash && passes(heir, call),
      ),
    internal: (call) => passes(heir, call),
  },
  {
    name: 'topic0 as a signature',
    options: { includeContractLogs: true, topic0: [TRANSFER] },
    addresses: () => [friend],
    logs: (log) => isTransfer(log) && names(friend, log),
  },
  {
    name: 'topic0 as a hash',
    options: { includeContractLogs: true, topic0: [APPROVAL_TOPIC] },
    addresses: () => [friend],
    logs: (log) => log.topic0 === APPROVAL_TOPIC && names(friend, log),
  },
  {
    name: 'several topic0',
    options: { includeContractLogs: true, topic0: [TRANSFER_TOPIC, APPROVAL] },
    addresses: () => [friend],
    logs: (log) => [TRANSFER_TOPIC, APPROVAL_TOPIC].includes(log.topic0!) && names(friend, log),
  },
  {
    name: 'topic0 does not affect transactions',
    options: { includeContractLogs: true, includeNativeTxs: true, topic0: [APPROVAL] },
    addresses: () => [stranger],
    logs: (log) => log.topic0 === APPROVAL_TOPIC && names(stranger, log),
    txs: (tx) => moves(stranger, tx),
  },
  {
    name: 'without an ABI one topic matches both ERC-20 and ERC-721',
    options: { includeContractLogs: true, allAddresses: true, topic0: [TRANSFER] },
    logs: isTransfer,
  },
  {
    name: 'the ABI of ERC-20 matches only its transfers',
    options: {
      includeContractLogs: true,
      allAddresses: true,
      topic0: [TRANSFER],
      abi: toItems(erc20),
    },
    logs: isFungible,
  },
  {
    name: 'the ABI of ERC-721 matches only its transfers',
    options: {
      includeContractLogs: true,
      allAddresses: true,
      topic0: [TRANSFER],
      abi: toItems(erc721),
    },
    logs: (log) => isTransfer(log) && log.topic3 !== null,
  },
  {
    name: 'both ABIs match both',
    options: {
      includeContractLogs: true,
      allAddresses: true,
      topic0: [TRANSFER],
      abi: toItems(erc721, erc20),
    },
    logs: (log) => isTransfer(log) && (log.topic3 !== null || log.topic2 !== null),
  },
  {
    name: 'allAddresses with includeNativeTxs: the transactions of the logs',
    options: {
      includeContractLogs: true,
      includeNativeTxs: true,
      allAddresses: true,
      topic0: [TRANSFER],
    },
    logs: isTransfer,
    txs: ({ hash }, place) => hasLog(hash, place, isTransfer),
  },
  {
    name: "allAddresses with includeInternalTxs: the internal calls of the logs' transactions",
    options: {
      includeContractLogs: true,
      includeInternalTxs: true,
      allAddresses: true,
      topic0: [TRANSFER],
    },
    logs: isTransfer,
    internal: ({ transactionHash }, place) => hasLog(transactionHash, place, isTransfer),
  },
  {
    name: 'allAddresses with includeAllTxLogs: every log of their transactions',
    options: {
      includeContractLogs: true,
      includeAllTxLogs: true,
      allAddresses: true,
      topic0: [APPROVAL],
    },
    logs: ({ transactionHash }, place) =>
      hasLog(transactionHash, place, (log) => log.topic0 === APPROVAL_TOPIC),
  },
  {
    name: "allAddresses ignores the stream's addresses",
    options: { includeContractLogs: true, allAddresses: true, topic0: [APPROVAL] },
    addresses: ({ odd }) => [odd],
    logs: (log) => log.topic0 === APPROVAL_TOPIC,
  },
  {
    name: 'several chains',
    options: { includeContractLogs: true, includeNativeTxs: true, chainIds: [A, B] },
    addresses: () => [friend],
    logs: (log) => names(friend, log),
    txs: (tx) => moves(friend, tx),
  },
  {
    name: 'only the other chain',
    options: { includeContractLogs: true, chainIds: [B] },
    addresses: ({ erc20 }) => [erc20],
    logs: (log, { contracts }) => log.address === contracts.erc20,
  },
  {
    name: "filterPossibleSpamAddresses: no records of contracts on the chain's spam list",
    options: {
      includeContractLogs: true,
      includeNativeTxs: true,
      includeInternalTxs: true,
      filterPossibleSpamAddresses: true,
      chainIds: [A, B],
    },
    addresses: () => [owner, heir],
    logs: (log, place) => names(owner, log) && !isSpam(log.address, place),
    txs: (tx, place) => moves(owner, tx) && !isSpam(tx.toAddress, place),
    internal: (call, place) =>
      passes(heir, call) && !isSpam(call.from, place) && !isSpam(call.to, place),
  },
  {
    name: 'without the flag, the same records',
    options: { includeContractLogs: true, includeNativeTxs: true, includeInternalTxs: true },
    addresses: () => [owner, heir],
    logs: (log) => names(owner, log),
    txs: (tx) => moves(owner, tx),
    internal: (call) => passes(heir, call),
  },
  {
    name: 'filterPossibleSpamAddresses: no webhook if all records were spam',
    options: { includeContractLogs: true, filterPossibleSpamAddresses: true },
    addresses: ({ erc20 }) => [erc20],
    takesNothing: true,
  },
  {
    name: 'deliver: confirmed only',
    options: { includeNativeTxs: true, deliver: 'confirmed' },
    addresses: () => [friend],
    txs: (tx) => moves(friend, tx),
    phases: ['confirmed'],
  },
];

/** Returns the addresses on the spam list of chain A. Chain B has no spam list. */
const spamOf = ({ erc20, mover }: Contracts): string[] => [erc20, mover];
const isSpam = (address: string | null, { chain, contracts }: Place): boolean =>
  chain === A && address !== null && spamOf(contracts).includes(address);

// Filters

type Values = { from: Address; to: Address; value: bigint };
const BIG = 2n ** 53n + 1n;

/**
 * Returns a row with a filter on all ERC-20 transfers. `says` computes whether the filter accepts a
 * transfer.
 */
function filterRow(
  name: string,
  filter: object | ((contracts: Contracts) => object),
  says: (values: Values, place: Place, log: WebhookLog) => boolean,
  more: Partial<Row> & { option?: object; chainIds?: string[] } = {},
): Row {
  const { option, chainIds = [A], ...row } = more;
  return {
    name,
    options: (contracts) => ({
      includeContractLogs: true,
      allAddresses: true,
      chainIds,
      abi: toItems(erc20),
      advancedOptions: [
        {
          topic0: TRANSFER,
          filter: (typeof filter === 'function' ? filter(contracts) : filter) as never,
          ...option,
        },
      ],
    }),
    logs: (log, place) => {
      const event = isFungible(log) ? readEvent(erc20, log) : undefined;
      return event?.eventName === 'Transfer' && says(lower(event.args), place, log);
    },
    ...row,
  };
}

/** Converts addresses to lowercase, because viem adds checksums. */
const lower = ({ from, to, value }: Values): Values => ({
  from: from.toLowerCase() as Address,
  to: to.toLowerCase() as Address,
  value,
});

const isForAll = (log: WebhookLog, approved: boolean): boolean => {
  const event = readEvent(erc20, log);
  return event?.eventName === 'ApprovalForAll' && event.args.approved === approved;
};
const isApprovalOf = (log: WebhookLog, says: (value: bigint) => boolean): boolean => {
  const event = readEvent(erc20, log);
  return event?.eventName === 'Approval' && says(event.args.value);
};
const approvals = (filter: object): Row['options'] => ({
  includeContractLogs: true,
  allAddresses: true,
  abi: toItems(erc20),
  advancedOptions: [{ topic0: APPROVAL, filter: filter as never }],
});

const filters: Row[] = [
  filterRow('eq', { eq: ['to', friend] }, ({ to }) => to === friend),
  filterRow(
    'eq, in different casing',
    { eq: ['to', `0x${friend.slice(2).toUpperCase()}`] },
    ({ to }) => to === friend,
  ),
  filterRow('ne', { ne: ['to', friend] }, ({ to }) => to !== friend),
  filterRow('lt', { lt: ['value', '100'] }, ({ value }) => value < 100n),
  filterRow('lte', { lte: ['value', '100'] }, ({ value }) => value <= 100n),
  filterRow('gt', { gt: ['value', '100'] }, ({ value }) => value > 100n),
  filterRow('gte', { gte: ['value', '100'] }, ({ value }) => value >= 100n),
  filterRow('a JSON number', { gte: ['value', 100] }, ({ value }) => value >= 100n),
  filterRow('a number in hex', { gt: ['value', '0x64'] }, ({ value }) => value > 100n),
  filterRow('in', { in: ['value', ['99', '100', '7']] }, ({ value }) =>
    [99n, 100n, 7n].includes(value),
  ),
  filterRow(
    'nin',
    { nin: ['to', [friend, stranger]] },
    ({ to }) => to !== friend && to !== stranger,
  ),
  filterRow(
    'and',
    { and: [{ gte: ['value', '100'] }, { eq: ['from', owner] }, { ne: ['to', friend] }] },
    ({ from, to, value }) => value >= 100n && from === owner && to !== friend,
  ),
  filterRow(
    'or',
    { or: [{ lt: ['value', '2'] }, { gt: ['value', '1000000'] }] },
    ({ value }) => value < 2n || value > 1_000_000n,
  ),
  filterRow(
    'or of ne and nin',
    ({ erc20 }) => ({
      or: [
        { ne: ['moralis_streams_contract_address', erc20] },
        { nin: ['to', [friend, stranger]] },
        { eq: ['value', '100'] },
      ],
    }),
    ({ to, value }, { contracts }, { address }) =>
      address !== contracts.erc20 || (to !== friend && to !== stranger) || value === 100n,
  ),
  filterRow(
    'and of eq and in',
    { and: [{ eq: ['to', friend] }, { in: ['value', ['99', '100']] }, { eq: ['from', owner] }] },
    ({ from, to, value }) => to === friend && (value === 99n || value === 100n) && from === owner,
  ),
  filterRow(
    'nested',
    {
      or: [
        {
          and: [
            { eq: ['to', friend] },
            { or: [{ eq: ['value', '99'] }, { eq: ['value', '100'] }] },
          ],
        },
        { and: [{ eq: ['to', stranger] }, { ne: ['value', '0'] }] },
      ],
    },
    ({ to, value }) =>
      (to === friend && (value === 99n || value === 100n)) || (to === stranger && value !== 0n),
  ),
  // Without a filter, logs that cannot be decoded match as well.
  { ...filterRow('no filter at all', {}, () => true), logs: isFungible },
  filterRow(
    'moralis_streams_contract_address',
    ({ odd }) => ({ eq: ['moralis_streams_contract_address', odd] }),
    (_, { contracts }, { address }) => address === contracts.odd,
  ),
  filterRow(
    'moralis_streams_contract_address, in and nin',
    ({ odd, erc20, crier }) => ({
      and: [
        { in: ['moralis_streams_contract_address', [odd, erc20]] },
        { nin: ['moralis_streams_contract_address', [crier, odd]] },
      ],
    }),
    (_, { contracts }, { address }) => address === contracts.erc20,
  ),
  filterRow(
    'moralis_streams_chain_id',
    { eq: ['moralis_streams_chain_id', B] },
    (_, { chain }) => chain === B,
    { chainIds: [A, B] },
  ),
  filterRow(
    'moralis_streams_chain_id with a value for each',
    {
      or: [
        { and: [{ eq: ['moralis_streams_chain_id', A] }, { lt: ['value', '100'] }] },
        { and: [{ eq: ['moralis_streams_chain_id', B] }, { gte: ['value', '100'] }] },
      ],
    },
    ({ value }, { chain }) => (chain === A ? value < 100n : value >= 100n),
    { chainIds: [A, B] },
  ),
  filterRow(
    'moralis_streams_possibleSpam',
    { eq: ['moralis_streams_possibleSpam', 'true'] },
    (_, place, { address }) => isSpam(address, place),
    { chainIds: [A, B] },
  ),
  filterRow(
    'moralis_streams_possibleSpam, false',
    { eq: ['moralis_streams_possibleSpam', 'false'] },
    (_, place, { address }) => !isSpam(address, place),
    { chainIds: [A, B] },
  ),
  {
    ...filterRow(
      'includeNativeTxs of an option',
      { eq: ['value', '100'] },
      ({ value }) => value === 100n,
      {
        option: { includeNativeTxs: true },
      },
    ),
    txs: ({ hash }, { view }) =>
      view.logs.some((log) => {
        const event = readEvent(erc20, log);
        return (
          log.transactionHash === hash &&
          event?.eventName === 'Transfer' &&
          event.args.value === 100n
        );
      }),
  },
  {
    name: 'several options for one event, one of them with the transaction',
    options: {
      includeContractLogs: true,
      allAddresses: true,
      abi: toItems(erc20),
      advancedOptions: [
        { topic0: TRANSFER, filter: { gt: ['value', '1000000'] }, includeNativeTxs: true },
        { topic0: TRANSFER_TOPIC, filter: { lt: ['value', '100'] } },
      ],
    },
    logs: (log) => {
      const event = readEvent(erc20, log);
      if (event?.eventName !== 'Transfer') return false;
      return event.args.value > 1_000_000n || event.args.value < 100n;
    },
    txs: ({ hash }, place) =>
      hasLog(hash, place, (log) => {
        const event = readEvent(erc20, log);
        return event?.eventName === 'Transfer' && event.args.value > 1_000_000n;
      }),
  },
  {
    name: 'an option and topic0: both events, one of them filtered',
    options: {
      includeContractLogs: true,
      topic0: [APPROVAL],
      abi: toItems(erc20),
      advancedOptions: [{ topic0: TRANSFER, filter: { gt: ['value', '100'] } }],
    },
    addresses: ({ erc20 }) => [erc20],
    logs: (log, { contracts }) => {
      if (log.address !== contracts.erc20) return false;
      const event = readEvent(erc20, log);
      return event?.eventName === 'Transfer'
        ? event.args.value > 100n
        : event?.eventName === 'Approval';
    },
  },
  {
    name: 'a filter on the logs of an address',
    options: {
      includeContractLogs: true,
      includeNativeTxs: true,
      abi: toItems(erc20),
      advancedOptions: [{ topic0: TRANSFER, filter: { gte: ['value', '100'] } }],
    },
    addresses: () => [stranger],
    logs: (log) => {
      const event = names(stranger, log) ? readEvent(erc20, log) : undefined;
      return event?.eventName === 'Transfer' && event.args.value >= 100n;
    },
    txs: (tx) => moves(stranger, tx),
  },
  {
    name: 'integers beyond 2^53, exactly: eq',
    options: approvals({ eq: ['value', BIG.toString()] }),
    logs: (log) => isApprovalOf(log, (value) => value === BIG),
  },
  {
    name: 'integers beyond 2^53, exactly: lt',
    options: approvals({ lt: ['value', BIG.toString()] }),
    logs: (log) => isApprovalOf(log, (value) => value < BIG),
  },
  {
    name: 'the largest integer',
    options: approvals({ gte: ['value', (2n ** 256n - 1n).toString()] }),
    logs: (log) => isApprovalOf(log, (value) => value === 2n ** 256n - 1n),
  },
  ...[true, false].map((approved): Row => ({
    name: `a boolean, ${approved}`,
    options: {
      includeContractLogs: true,
      allAddresses: true,
      abi: toItems(erc20),
      advancedOptions: [
        { topic0: APPROVAL_FOR_ALL, filter: { eq: ['approved', String(approved)] } },
      ],
    },
    logs: (log) => isForAll(log, approved),
  })),
];

const rows = [...flags, ...filters];
const folder = mkdtempSync(join(tmpdir(), 'sluice-selection-'));
const anvils = new Map<string, Anvil>();
let sink: WebhookSink;
let service: Served;
let contracts: Contracts;
const views = new Map<string, ChainView[]>();

beforeAll(async () => {
  const [a, b, receiver] = await Promise.all([
    startAnvil({ chainId: Number(A) }),
    startAnvil({ chainId: Number(B) }),
    startWebhookSink(),
  ]);
  anvils.set(A, a).set(B, b);
  sink = receiver;
  const [onA, onB] = await Promise.all([deployEveryKind(a), deployEveryKind(b)]);
  expect(onB, 'contracts have the same addresses on both chains').toEqual(onA);
  contracts = onA;
  const spamList = join(folder, 'spam.txt');
  writeFileSync(spamList, spamOf(contracts).join('\n'));
  service = await serve([
    ...['--data', join(folder, 'data'), '--no-test-webhook', '--spam-list', `${A}=${spamList}`],
    ...[A, B].flatMap((id) => [
      '--chain',
      `${id}=${anvils.get(id)!.url},confirmations=${CONFIRMATIONS},poll=50`,
    ]),
  ]);
  await createStreams();
  await Promise.all([...anvils].map(([id, anvil], n) => mineSelection(id, anvil, n + 1)));
  await settle();
});

afterAll(async () => {
  await service.stop();
  await Promise.all([...[...anvils.values()].map((anvil) => anvil.stop()), sink.close()]);
  rmSync(folder, { recursive: true });
});

const optionsOf = ({ options }: Row): Partial<CreateEvmStream> =>
  typeof options === 'function' ? options(contracts) : options;
const chainsOf = (row: Row): readonly string[] => optionsOf(row).chainIds ?? [A];

async function createStreams(): Promise<void> {
  const kit = createClient({ apiKey: API_KEY, baseUrl: service.url });
  for (const [n, row] of rows.entries()) {
    const { id } = await kit.streams.create({
      webhookUrl: `${sink.url}/${n}`,
      description: row.name,
      tag: 'selection',
      chainIds: [A],
      ...optionsOf(row),
    });
    const addresses = row.addresses?.(contracts) ?? [];
    if (addresses.length > 0) await kit.streams.addAddress(id, addresses);
  }
}

/**
 * Mines every kind of record, transfers around the bounds of filters, and transactions with several
 * logs. Reads the mined blocks with viem.
 */
async function mineSelection(id: string, anvil: Anvil, rounds: number): Promise<void> {
  const blocks: number[] = [];
  const transfer = (to: Address, value: bigint) =>
    call(contracts.erc20, sluiceToken.abi, 'transfer', [to, value]);
  const approve = (value: bigint) =>
    call(contracts.erc20, sluiceToken.abi, 'approve', [stranger, value]);
  const word = (value: number): Hex => pad(`0x${value.toString(16).padStart(2, '0')}`);
  const cryAll = (...logs: [topics: Hex[], data: Hex][]) =>
    call(contracts.crier, crier.abi, 'cryAll', [
      logs.map(([topics]) => topics),
      logs.map(([, data]) => data),
    ]);
  for (let round = 0; round < rounds; round++) {
    blocks.push(...(await mineEveryKind(anvil, contracts)));
    blocks.push(
      await mine(anvil, [
        ...[1n, 99n, 100n, 101n].flatMap((value) => [
          transfer(friend, value),
          transfer(stranger, value),
        ]),
        transfer(heir, 100n),
        approve(BIG - 1n),
        approve(BIG + 1n),
        cryAll(
          [[TRANSFER_TOPIC, pad(owner), pad(friend)], word(100)],
          [[APPROVAL_TOPIC, pad(owner), pad(stranger)], word(3)],
          [[word(9)], '0x'],
        ),
        cryAll([[word(9)], '0x'], [[TRANSFER_TOPIC, pad(friend), pad(owner), word(5)], '0x']),
      ]),
    );
  }
  for (let n = 0; n < CONFIRMATIONS; n++) await mine(anvil, []);
  const client = createPublicClient({ transport: http(anvil.url) });
  views.set(id, await Promise.all(blocks.map((number) => readChainView(client, number))));
}

/**
 * Waits until all blocks are confirmed and all deliveries sent, so that no more deliveries can
 * follow.
 */
async function settle(): Promise<void> {
  const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: service.url });
  const last = (id: string): number => views.get(id)!.at(-1)!.number;
  await until('the blocks are confirmed', async () => {
    const chains = await sluice.listChains();
    return chains.every(({ id, confirmedUpTo }) => (confirmedUpTo ?? 0) >= last(id));
  });
  await until('everything is sent', async () => {
    const states = ['enriching', 'pending', 'retrying', 'leased'] as const;
    const pages = await Promise.all(
      states.map((state) => sluice.listDeliveries({ state, limit: 1 })),
    );
    return pages.every(({ result }) => result.length === 0);
  });
}

/** Returns the values that identify each record of a webhook within its block. */
const idsOf = ({
  logs,
  txs,
  txsInternal,
}: {
  logs: readonly WebhookLog[];
  txs: readonly WebhookTransaction[];
  txsInternal: readonly WebhookInternalTransaction[];
}) => ({
  logs: logs.map(({ logIndex }) => logIndex),
  txs: txs.map(({ hash }) => hash),
  txsInternal: txsInternal.map(
    (each) => `${each.transactionHash}/${each.internalTransactionIndex}`,
  ),
});
type Ids = ReturnType<typeof idsOf>;

/** Returns the values that identify the expected records, by chain, block and phase. */
function expectedOf(row: Row): Map<string, Ids> {
  const expected = new Map<string, Ids>();
  for (const chain of chainsOf(row)) {
    for (const view of views.get(chain)!) {
      const place = { chain, view, contracts };
      const ids = idsOf({
        logs: view.logs.filter((log) => row.logs?.(log, place)),
        txs: view.txs.filter((tx) => row.txs?.(tx, place)),
        txsInternal: view.txsInternal.filter((each) => row.internal?.(each, place)),
      });
      if (Object.values(ids).every((list) => list.length === 0)) continue;
      for (const phase of row.phases ?? ['unconfirmed', 'confirmed']) {
        expected.set(`${chain} ${view.number} ${phase}`, ids);
      }
    }
  }
  return expected;
}

function receivedOf(row: Row): Map<string, Ids> {
  const path = `/${rows.indexOf(row)}`;
  const received = new Map<string, Ids>();
  for (const request of sink.requests.filter((each) => each.path === path)) {
    const webhook = JSON.parse(request.body) as EvmWebhook;
    const { chainId, block, confirmed } = webhook;
    const key = `${chainId} ${block.number} ${confirmed ? 'confirmed' : 'unconfirmed'}`;
    expect(received.has(key), `${key} arrived twice`).toBe(false);
    received.set(key, idsOf(webhook));
  }
  return received;
}

function expectRow(row: Row): void {
  const expected = expectedOf(row);
  expect(receivedOf(row)).toEqual(expected);
  // Each row must expect at least one record of every kind for which it has a function.
  const taken = [...expected.values()];
  const has = (kind: keyof Ids): boolean => taken.some((ids) => ids[kind].length > 0);
  expect({ logs: has('logs'), txs: has('txs'), txsInternal: has('txsInternal') }).toEqual({
    logs: row.logs !== undefined,
    txs: row.txs !== undefined,
    txsInternal: row.internal !== undefined,
  });
  expect(taken.length === 0).toBe(row.takesNothing ?? false);
}

describe('a stream matches by its options:', () => {
  test.each(flags)('$name', expectRow);

  test('spam is marked unless it is filtered', () => {
    const n = rows.findIndex(({ name }) => name === 'several chains');
    const marks = { [A]: new Set<string>(), [B]: new Set<string>() };
    for (const { path, body } of sink.requests) {
      const { chainId, erc20Transfers, erc20Approvals } = JSON.parse(body) as EvmWebhook;
      if (path !== `/${n}`) continue;
      for (const { contract, possibleSpam } of [...erc20Transfers, ...erc20Approvals]) {
        const isListed = chainId === A && spamOf(contracts).includes(contract);
        expect(possibleSpam).toBe(isListed);
        marks[chainId as typeof A].add(String(possibleSpam));
      }
    }
    expect(marks).toEqual({ [A]: new Set(['true', 'false']), [B]: new Set(['false']) });
  });
});

describe('a stream matches by its filters:', () => {
  test.each(filters)('$name', (row) => {
    expectRow(row);
    // Every filter except the empty one must exclude some of the transfers and approvals. `count`
    // is halved, because each match is sent in both phases.
    const events = [isFungible, (log: WebhookLog) => log.topic0 === APPROVAL_TOPIC];
    const count = [...receivedOf(row).values()].reduce((sum, { logs }) => sum + logs.length, 0);
    const all = chainsOf(row)
      .flatMap((chain) => views.get(chain)!)
      .flatMap(({ logs }) => logs);
    if (row.name !== 'no filter at all') {
      expect(count / 2).toBeLessThan(
        all.filter(
          (log) => events.some((is) => is(log)) || isForAll(log, true) || isForAll(log, false),
        ).length,
      );
    }
  });
});
