/**
 * Compares the matcher with a naive implementation of the matching rules, which checks every record
 * against every stream. The naive implementation shares no code with the matcher and does not
 * decode logs.
 */
import type { BlockNeeds } from '../../../store/blocks/contract.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AbiItem } from '@sluice/kit/contract';
import { packAddresses } from '../../../store/addresses/packedAddresses.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamRecord,
  type StreamOptions,
} from '../../../store/streams/contract.ts';
import type { EvmBlock } from './block.ts';
import { explainRecords } from '../../../match/explain.ts';
import { passed, stopped } from '../../../match/reasons.ts';
import { explainBlock } from './explain.ts';
import { matchBlock, createStreamIndex, needsOf } from './match.ts';
import { countObservedEvents } from './observed.ts';
import { type WebhookParts, toWebhookParts } from './webhook.ts';

const CHAINS = ['0x1', '0x89'] as const;
type Chain = (typeof CHAINS)[number];

/** Emitter of the logs of native transfers, which match only streams that watch it. */
const NATIVE = '0xfffffffffffffffffffffffffffffffffffffffe';
/** Few addresses, so that streams and blocks share them. */
const ADDRESSES = [...Array.from({ length: 6 }, (_, n) => `0x${`${n + 1}`.repeat(40)}`), NATIVE];
const TRANSACTIONS = 4;

const TRANSFER: string = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const APPROVAL: string = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
const OTHER = `0x${'0e'.repeat(32)}`;
/** Ways to write each event: its hash and its signature. */
const SPELLINGS: Record<string, string[]> = {
  [TRANSFER]: [TRANSFER, 'Transfer(address,address,uint256)'],
  [APPROVAL]: [APPROVAL, 'Approval(address,address,uint256)'],
};

const parameter = (name: string, type: string, indexed: boolean) => ({ name, type, indexed });
const transferEvent = (value: string, indexed: boolean): AbiItem => ({
  type: 'event',
  name: 'Transfer',
  inputs: [
    parameter('from', 'address', true),
    parameter('to', 'address', true),
    parameter(value, 'uint256', indexed),
  ],
});
const ERC20 = transferEvent('value', false);
const ERC721 = transferEvent('tokenId', true);

// Blocks

/** A generated log before it is encoded. */
interface LogMade {
  transaction: number;
  emitter: string;
  /**
   * `fungible` and `nft` are Transfer events with 2 and 3 indexed inputs; `torn` is a Transfer
   * event with invalid data. `other` has addresses in topics 1 and 3. `unaddressed` has topics that
   * only resemble addresses; `bare` has no topics.
   */
  kind: 'fungible' | 'nft' | 'torn' | 'approval' | 'other' | 'unaddressed' | 'bare';
  from: string;
  to: string;
  value: bigint;
}

const anyAddress = fc.constantFrom(...ADDRESSES);
/** Mostly small values, so that they often equal the bounds of filters. */
const anyValue = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: 0n, max: 2n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }) },
);
const anyTransaction = fc.nat(TRANSACTIONS - 1);

const anyLog: fc.Arbitrary<LogMade> = fc.record({
  transaction: anyTransaction,
  emitter: anyAddress,
  kind: fc.constantFrom(
    'fungible',
    'fungible',
    'nft',
    'torn',
    'approval',
    'other',
    'unaddressed',
    'bare',
  ),
  from: anyAddress,
  to: anyAddress,
  value: anyValue,
});

const anyBlock = fc.record({
  logs: fc
    .array(anyLog, { maxLength: 12 })
    .map((logs) => logs.toSorted((a, b) => a.transaction - b.transaction)),
  transactions: fc.array(fc.record({ from: anyAddress, to: fc.option(anyAddress) }), {
    minLength: TRANSACTIONS,
    maxLength: TRANSACTIONS,
  }),
  calls: fc
    .array(
      fc.record({ transaction: anyTransaction, from: anyAddress, to: fc.option(anyAddress) }),
      { maxLength: 6 },
    )
    .map((calls) => calls.toSorted((a, b) => a.transaction - b.transaction)),
});
type BlockMade = typeof anyBlock extends fc.Arbitrary<infer T> ? T : never;

const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`;
const topic = (address: string): string => `0x${'0'.repeat(24)}${address.slice(2)}`;
/** Returns a topic that ends like the address, but has a nonzero byte before it. */
const impostor = (address: string): string => `0x01${'0'.repeat(22)}${address.slice(2)}`;
const hashOf = (transaction: number): string => word(1000n + BigInt(transaction));

function topicsAndData({ kind, from, to, value }: LogMade): { topics: string[]; data: string } {
  const parties = [topic(from), topic(to)];
  switch (kind) {
    case 'fungible':
      return { topics: [TRANSFER, ...parties], data: word(value) };
    case 'nft':
      return { topics: [TRANSFER, ...parties, word(value)], data: '0x' };
    case 'torn':
      return { topics: [TRANSFER, ...parties], data: '0x1234' };
    case 'approval':
      return { topics: [APPROVAL, ...parties], data: word(value) };
    case 'other':
      return { topics: [OTHER, topic(from), word(value), topic(to)], data: '0x' };
    case 'unaddressed':
      return { topics: [OTHER, impostor(from), impostor(to)], data: topic(to) };
    case 'bare':
      return { topics: [], data: topic(to) };
  }
}

function toBlock({ logs, transactions, calls }: BlockMade): EvmBlock {
  return {
    number: 7,
    hash: word(7n),
    parentHash: word(6n),
    timestamp: 1_700_000_000,
    logs: logs.map((made, logIndex) => ({
      logIndex,
      transactionIndex: made.transaction,
      transactionHash: hashOf(made.transaction),
      address: made.emitter,
      ...topicsAndData(made),
    })),
    transactions: transactions.map(({ from, to }, transactionIndex) => ({
      transactionIndex,
      hash: hashOf(transactionIndex),
      from,
      to,
      value: '0x0',
      gas: '0x5208',
      gasPrice: '0x1',
      nonce: '0x0',
      input: '0x',
      type: '0x2',
      v: '0x1',
      r: '0x2',
      s: '0x3',
      receipt: {
        cumulativeGasUsed: '0x5208',
        gasUsed: '0x5208',
        contractAddress: null,
        root: null,
        status: '0x1',
        fee: null,
      },
    })),
    internalTransactions: calls.map(({ transaction, from, to }, index) => ({
      transactionHash: hashOf(transaction),
      transactionIndex: transaction,
      index,
      from,
      to,
      value: '0x1',
      gas: '0x5208',
    })),
  };
}

// Streams

type Filter =
  | { and: Filter[] }
  | { or: Filter[] }
  | { [operator: string]: [name: string, value: unknown] };

/** Generates filters on the inputs, contract, chain and spam flag of a transfer. */
function anyFilter(names: readonly ('value' | 'tokenId')[]): fc.Arbitrary<Filter> {
  const spellings = (values: fc.Arbitrary<string>) =>
    values
      .map((value) => [value, value.toUpperCase().replace('0X', '0x')])
      .chain((both) => fc.constantFrom(...both));
  const numbers = anyValue.chain((value) =>
    fc.constantFrom<unknown>(
      value.toString(),
      word(value),
      ...(value < 2n ** 53n ? [Number(value)] : []),
    ),
  );
  const equality = (name: string, values: fc.Arbitrary<unknown>) =>
    fc
      .oneof(
        fc.record({ operator: fc.constantFrom('eq', 'ne'), value: values }),
        fc.record({
          operator: fc.constantFrom('in', 'nin'),
          value: fc.array(values, { minLength: 1, maxLength: 4 }),
        }),
      )
      .map(({ operator, value }): Filter => ({ [operator]: [name, value] }));
  const order = (name: string) =>
    fc
      .tuple(fc.constantFrom('lt', 'lte', 'gt', 'gte'), numbers)
      .map(([operator, value]): Filter => ({ [operator]: [name, value] }));
  const leaf = fc.oneof(
    equality('from', spellings(anyAddress)),
    equality('to', spellings(anyAddress)),
    ...names.flatMap((name) => [order(name), order(name), equality(name, numbers)]),
    equality('moralis_streams_contract_address', spellings(anyAddress)),
    equality('moralis_streams_chain_id', fc.constantFrom(...CHAINS)),
    equality('moralis_streams_possibleSpam', fc.constantFrom('true', 'false', true, false)),
  );
  return fc.letrec<{ filter: Filter }>((tie) => {
    const parts = fc.array(tie('filter'), { minLength: 2, maxLength: 3 });
    return {
      filter: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        parts.map((and) => ({ and })),
        parts.map((or) => ({ or })),
      ),
    };
  }).filter;
}

const anyTopic = fc
  .constantFrom(TRANSFER, TRANSFER, APPROVAL)
  .chain((hash) => fc.constantFrom(...SPELLINGS[hash]!));

/**
 * Generates ABIs with selected events. Filters are generated only with an ABI, and use only inputs
 * that all its events have.
 */
const anyEvents = fc
  .constantFrom<[AbiItem[] | null, ('value' | 'tokenId')[]]>(
    [null, []],
    [[ERC20], ['value']],
    [[ERC721], ['tokenId']],
    [[ERC721, ERC20], []],
  )
  .chain(([abi, names]) => {
    const filtered = fc.record({
      topic0: fc.constantFrom(...SPELLINGS[TRANSFER]!),
      filter: anyFilter(names),
      includeNativeTxs: fc.boolean(),
    });
    const unfiltered = fc.record(
      { topic0: anyTopic, filter: fc.constant({}), includeNativeTxs: fc.boolean() },
      { requiredKeys: ['topic0'] },
    );
    const option = abi === null ? unfiltered : fc.oneof(filtered, filtered, unfiltered);
    return fc.record({
      abi: fc.constant(abi),
      topic0: fc.option(fc.uniqueArray(anyTopic, { maxLength: 2 })),
      advancedOptions: fc.option(fc.array(option, { maxLength: 2 })),
    });
  });

const anyStream = fc.record({
  chains: fc.constantFrom<readonly Chain[]>(['0x1'], ['0x89'], CHAINS),
  addresses: fc.uniqueArray(anyAddress, { maxLength: 4 }),
  /** Addresses that are added to the stream and then removed. */
  removed: fc.uniqueArray(anyAddress, { maxLength: 2 }),
  isGone: fc.constantFrom(false, false, false, true),
  events: anyEvents,
  flags: fc.record({
    includeContractLogs: fc.constantFrom(true, true, false),
    includeNativeTxs: fc.boolean(),
    includeInternalTxs: fc.boolean(),
    includeAllTxLogs: fc.boolean(),
    allAddresses: fc.constantFrom(false, false, true),
    filterPossibleSpamAddresses: fc.boolean(),
    includeMatched: fc.boolean(),
  }),
});
type StreamMade = typeof anyStream extends fc.Arbitrary<infer T> ? T : never;

const optionsOf = ({ events, flags }: StreamMade): StreamOptions => ({
  ...DEFAULT_OPTIONS,
  ...events,
  ...flags,
});

// The naive implementation

const ALL_LOGS = 'includeAllTxLogs';

interface Read {
  logs: number[];
  transactions: number[];
  calls: number[];
  /** `triggered_by` of each of these logs and transactions. */
  triggers: { logs: (string[] | null)[]; transactions: (string[] | null)[] };
  /** The watched addresses with their rules, as `topic0 0` or `includeNativeTxs`. */
  matched: [address: string | null, rules: string[]][] | undefined;
}

function read(
  stream: StreamMade,
  chain: Chain,
  { logs, transactions, calls }: BlockMade,
  spam: ReadonlySet<string>,
): Read {
  const nothing = {
    logs: [],
    transactions: [],
    calls: [],
    triggers: { logs: [], transactions: [] },
    matched: undefined,
  };
  if (stream.isGone || !stream.chains.includes(chain)) return nothing;
  const { flags, events } = stream;
  const topicOf = (text: string) =>
    text === TRANSFER || text.startsWith('Transfer') ? TRANSFER : APPROVAL;
  const watches = (address: string | null) =>
    address !== null &&
    stream.addresses.includes(address) &&
    !stream.removed.includes(address) &&
    !flags.allAddresses;

  /**
   * Returns whether the stream's events and filters select the log, and whether they also select
   * its transaction.
   */
  const wants = (log: LogMade): { log: boolean; transaction: boolean; rules: string[] } => {
    const not = { log: false, transaction: false, rules: [] };
    const options = events.advancedOptions ?? [];
    const isTransfer = ['fungible', 'nft', 'torn'].includes(log.kind);
    const own = isTransfer ? TRANSFER : log.kind === 'approval' ? APPROVAL : OTHER;
    const named = [...(events.topic0 ?? []), ...options.map(({ topic0 }) => topic0)].map(topicOf);
    if (named.length === 0) return { ...not, log: true, rules: ['includeContractLogs'] };
    if (log.kind === 'bare' || !named.includes(own)) return not;
    const event = log.kind === 'nft' ? ERC721 : ERC20;
    if (isTransfer && events.abi !== null && !events.abi.includes(event)) return not;
    const choices = options.filter(({ topic0 }) => topicOf(topic0) === own);
    if (choices.length === 0) {
      const entry = events.topic0!.findIndex((text) => topicOf(text) === own);
      return { ...not, log: true, rules: [`topic0 ${entry}`] };
    }
    const passed = choices.filter(
      ({ filter }) =>
        filter === undefined ||
        Object.keys(filter).length === 0 ||
        (log.kind !== 'torn' && says(filter as Filter, log, chain, spam.has(log.emitter))),
    );
    return {
      log: passed.length > 0,
      transaction: passed.some(({ includeNativeTxs }) => includeNativeTxs === true),
      rules: passed.map((option) => `advancedOptions ${options.indexOf(option)}`),
    };
  };
  const concerns = (log: LogMade): boolean => {
    const isNamed = !['unaddressed', 'bare'].includes(log.kind);
    if (log.emitter === NATIVE) return watches(NATIVE);
    return (
      flags.allAddresses ||
      watches(log.emitter) ||
      (isNamed && (watches(log.from) || watches(log.to)))
    );
  };

  const isKept = (...addresses: (string | null)[]) =>
    !flags.filterPossibleSpamAddresses ||
    addresses.every((address) => address === null || !spam.has(address));
  const ownLogs = logs.filter(
    (log) => isKept(log.emitter) && flags.includeContractLogs && concerns(log) && wants(log).log,
  );
  const ownTransactions = transactions.filter(
    ({ from, to }, n) =>
      (flags.includeNativeTxs && isKept(from, to) && (watches(from) || watches(to))) ||
      ownLogs.some((log) => log.transaction === n && wants(log).transaction),
  );
  const ownCalls = calls.filter(
    ({ from, to }) =>
      flags.includeInternalTxs && isKept(from, to) && (watches(from) || watches(to)),
  );
  const touched = new Set([
    ...ownLogs.map(({ transaction }) => transaction),
    ...ownTransactions.map((each) => transactions.indexOf(each)),
    ...ownCalls.map(({ transaction }) => transaction),
  ]);

  /** Returns the addresses of a log that a stream may watch, in the order of `triggered_by`. */
  const addressesIn = ({ kind, emitter, from, to }: LogMade): string[] => {
    if (kind === 'unaddressed' || kind === 'bare') return [emitter];
    // The parties of a native transfer count only if all logs of its transaction are included.
    if (emitter === NATIVE && !flags.includeAllTxLogs) return [emitter];
    return [emitter, from, to];
  };
  const toTriggers = (addresses: readonly (string | null)[]): string[] | null => {
    const found = new Set(addresses.filter((address) => address !== null && watches(address)));
    return found.size === 0 ? null : ([...found] as string[]);
  };
  const withAll = (isIncluded: boolean, n: number) =>
    flags.allAddresses && isIncluded && touched.has(n);
  const indices = <T>(list: readonly T[], takes: (each: T, n: number) => boolean) =>
    list.flatMap((each, n) => (takes(each, n) ? [n] : []));
  const taken = {
    logs: indices(
      logs,
      (log) =>
        isKept(log.emitter) &&
        (ownLogs.includes(log) || (flags.includeAllTxLogs && touched.has(log.transaction))),
    ),
    transactions: indices(
      transactions,
      (each, n) =>
        isKept(each.from, each.to) &&
        (ownTransactions.includes(each) || withAll(flags.includeNativeTxs, n)),
    ),
    calls: indices(
      calls,
      (each) =>
        isKept(each.from, each.to) &&
        (ownCalls.includes(each) || withAll(flags.includeInternalTxs, each.transaction)),
    ),
  };
  const matched = new Map<string | null, string[]>();
  const add = (addresses: readonly string[] | null, rules: readonly string[]): void => {
    for (const address of addresses ?? [null]) {
      matched.set(address, [...new Set([...(matched.get(address) ?? []), ...rules])]);
    }
  };
  for (const n of taken.logs) {
    const log = logs[n]!;
    add(toTriggers(addressesIn(log)), ownLogs.includes(log) ? wants(log).rules : [ALL_LOGS]);
  }
  for (const n of taken.transactions) {
    const parties = toTriggers([transactions[n]!.from, transactions[n]!.to]);
    const including = ownLogs.filter((log) => log.transaction === n && wants(log).transaction);
    const rules = including
      .slice(0, 1)
      .flatMap((log) => wants(log).rules)
      .filter(
        (text) => events.advancedOptions?.[Number(text.split(' ')[1])]?.includeNativeTxs === true,
      );
    const isOwn = flags.includeNativeTxs && (parties !== null || flags.allAddresses);
    if (isOwn || parties !== null) add(parties, isOwn ? ['includeNativeTxs'] : rules);
    for (const log of including.slice(0, 1)) add(toTriggers(addressesIn(log)), rules);
  }
  for (const n of taken.calls) {
    add(toTriggers([calls[n]!.from, calls[n]!.to]), ['includeInternalTxs']);
  }
  return {
    ...taken,
    matched: flags.includeMatched ? [...matched] : undefined,
    triggers: {
      logs: taken.logs.map((n) => toTriggers(addressesIn(logs[n]!))),
      transactions: taken.transactions.map((n) =>
        toTriggers([
          ...[transactions[n]!.from, transactions[n]!.to],
          ...ownLogs
            .filter((log) => log.transaction === n && wants(log).transaction)
            .flatMap(addressesIn),
        ]),
      ),
    },
  };
}

/** Returns whether a transfer passes a filter. */
function says(filter: Filter, log: LogMade, chain: Chain, isSpam: boolean): boolean {
  const [operator, body] = Object.entries(filter)[0]!;
  if (operator === 'and') return (body as Filter[]).every((each) => says(each, log, chain, isSpam));
  if (operator === 'or') return (body as Filter[]).some((each) => says(each, log, chain, isSpam));
  const [name, operand] = body as [string, unknown];
  const values: Record<string, string | bigint> = {
    from: log.from,
    to: log.to,
    value: log.value,
    tokenId: log.value,
    moralis_streams_contract_address: log.emitter,
    moralis_streams_chain_id: chain,
    moralis_streams_possibleSpam: String(isSpam),
  };
  const value = values[name]!;
  const same = (other: unknown): boolean =>
    typeof value === 'bigint'
      ? value === BigInt(other as string)
      : value === String(other).toLowerCase();
  const difference = typeof value === 'bigint' ? () => value - BigInt(operand as string) : () => 0n;
  switch (operator) {
    case 'eq':
      return same(operand);
    case 'ne':
      return !same(operand);
    case 'in':
      return (operand as unknown[]).some(same);
    case 'nin':
      return !(operand as unknown[]).some(same);
    case 'lt':
      return difference() < 0n;
    case 'lte':
      return difference() <= 0n;
    case 'gt':
      return difference() > 0n;
    default:
      return difference() >= 0n;
  }
}

// Comparison of the matcher with the naive implementation

const packed = (addresses: readonly string[]) => packAddresses(addresses).bytes;

function toIndex(streams: readonly StreamMade[]) {
  const index = createStreamIndex();
  for (const [n, stream] of streams.entries()) {
    const record: EvmStreamRecord = {
      id: `${n}`,
      tag: `${n}`,
      description: '',
      webhookUrl: 'http://127.0.0.1/',
      chainIds: [...stream.chains],
      status: 'active',
      statusMessage: '',
      errorSince: null,
      addressCount: 0,
      childCount: 0,
      createdAt: 0,
      updatedAt: 0,
      options: optionsOf(stream),
      family: 'evm',
      ...DEFAULT_DELIVERY,
    };
    index.put(record);
    index.addAddresses(record.id, packed([...stream.addresses, ...stream.removed]));
    index.removeAddresses(record.id, packed(stream.removed));
  }
  for (const [n, { isGone }] of streams.entries()) if (isGone) index.delete(`${n}`);
  return index;
}

const matchesOf = (
  index: ReturnType<typeof toIndex>,
  chain: Chain,
  block: EvmBlock,
  spam: ReadonlySet<string>,
): Record<string, Read> =>
  Object.fromEntries(
    matchBlock(index, chain, block, spam).map((match) => {
      const { tail } = toWebhookParts(chain, block, match, { spam });
      return [
        match.stream.record.id,
        {
          logs: match.logs.map(({ logIndex }) => logIndex),
          transactions: match.transactions.map(({ transactionIndex }) => transactionIndex),
          calls: match.internalTransactions.map(({ index: n }) => n),
          triggers: triggersIn(tail),
          matched: tail.matched?.map(({ address, rules }) => [
            address,
            rules.map(({ field, index: entry }) => (entry === null ? field : `${field} ${entry}`)),
          ]),
        },
      ];
    }),
  );

/** Returns `triggered_by` of the body, after checking that transfers have that of their log. */
function triggersIn({ logs, txs, erc20Transfers }: WebhookParts['tail']): Read['triggers'] {
  const ofLogs = new Map(logs.map((log) => [log.logIndex, log.triggered_by]));
  for (const transfer of erc20Transfers) {
    expect(transfer.triggered_by).toEqual(ofLogs.get(transfer.logIndex));
  }
  return {
    logs: logs.map((log) => log.triggered_by!),
    transactions: txs.map((transaction) => transaction.triggered_by!),
  };
}

/**
 * Returns the block with only the parts that are read for these needs. Reading transactions also
 * reads logs.
 */
const fetched = (block: EvmBlock, { logs, transactions, traces }: BlockNeeds): EvmBlock => ({
  ...block,
  logs: logs || transactions ? block.logs : [],
  transactions: transactions ? block.transactions : [],
  internalTransactions: traces ? block.internalTransactions : [],
});

const anySpam = fc.record({
  '0x1': fc.uniqueArray(anyAddress, { maxLength: 3 }),
  '0x89': fc.uniqueArray(anyAddress, { maxLength: 3 }),
});

test('property: the matcher equals a naive reading, for complete blocks and for the parts it needs', () => {
  const observed = { logs: 0, transactions: 0, calls: 0, triggered: 0, byLogs: 0, rules: 0 };
  fc.assert(
    fc.property(
      anyBlock,
      fc.array(anyStream, { minLength: 1, maxLength: 5 }),
      anySpam,
      (made, streams, spamLists) => {
        const index = toIndex(streams);
        const block = toBlock(made);
        for (const chain of CHAINS) {
          const spam = new Set(spamLists[chain]);
          const expected: Record<string, Read> = {};
          for (const [n, stream] of streams.entries()) {
            const one = read(stream, chain, made, spam);
            if (one.logs.length + one.transactions.length + one.calls.length === 0) continue;
            expected[`${n}`] = one;
            observed.logs += one.logs.length;
            observed.transactions += one.transactions.length;
            observed.calls += one.calls.length;
            observed.rules += one.matched?.filter(([, rules]) => rules.length > 1).length ?? 0;
            const { logs, transactions } = one.triggers;
            observed.triggered += logs.filter((each) => (each?.length ?? 0) > 1).length;
            observed.byLogs += transactions.filter((addresses, at) => {
              const { from, to } = made.transactions[one.transactions[at]!]!;
              return addresses?.some((address) => address !== from && address !== to);
            }).length;
          }
          expect(matchesOf(index, chain, block, spam)).toEqual(expected);
          const part = fetched(block, needsOf(index, chain));
          expect(matchesOf(index, chain, part, spam)).toEqual(expected);
        }
      },
    ),
    { numRuns: 2_000 },
  );
  expect(Math.min(...Object.values(observed))).toBeGreaterThan(100);
});

test('property: explanations agree with matches, and each record has the deciding reason', () => {
  const observed = { included: 0, left: 0, along: 0, filtered: 0 };
  fc.assert(
    fc.property(
      anyBlock,
      fc.array(anyStream, { minLength: 1, maxLength: 5 }),
      anySpam,
      fc.option(fc.array(anyTransaction), { nil: undefined }),
      (made, streams, spamLists, asked) => {
        const index = toIndex(streams);
        const block = toBlock(made);
        const transactions = asked && new Set(asked.map(hashOf));
        const isAsked = (hash: string): boolean => transactions?.has(hash) ?? true;
        for (const chain of CHAINS) {
          const spam = new Set(spamLists[chain]);
          const explained = explainBlock(index, chain, block, { spam, transactions });
          const taken = [...explained].flatMap(([id, records]) =>
            records
              .filter((record) => record.included)
              .map(({ kind, index: n, transactionHash: hash }) => `${id} ${kind} ${hash} ${n}`),
          );
          const matched = matchBlock(index, chain, block, spam).flatMap((match) => {
            const { id } = match.stream.record;
            return [
              ...match.logs.map((log) => `log ${log.transactionHash} ${log.logIndex}`),
              ...match.transactions.map(
                (each) => `transaction ${each.hash} ${each.transactionIndex}`,
              ),
              ...match.internalTransactions.map(
                (call) => `internalTransaction ${call.transactionHash} ${call.index}`,
              ),
            ]
              .filter((text) => isAsked(text.split(' ')[1]!))
              .map((text) => `${id} ${text}`);
          });
          expect(taken.toSorted()).toEqual(matched.toSorted());

          for (const records of explained.values()) {
            for (const { included: isTaken, reasons, transactionHash: hash } of records) {
              expect(isAsked(hash)).toBe(true);
              const stops = reasons.filter(({ outcome }) => outcome === 'stopped');
              const last = reasons.at(-1)!;
              if (!isTaken) {
                expect(stops.length).toBeGreaterThan(0);
                observed.left++;
                if (last.stage === 'filter') {
                  expect(last.message).toMatch(/ is not |can't be decoded|couldn't be read/);
                  observed.filtered++;
                }
                continue;
              }
              observed.included++;
              const own = reasons.filter(({ stage }) => stage !== 'along');
              // A filter that passes takes precedence over one that excludes the record.
              const isPassing = own.some(
                ({ stage, outcome }) => stage === 'filter' && outcome === 'passed',
              );
              const counted = stops.filter(({ stage }) => stage !== 'filter' || !isPassing);
              const isOwn = own.length > 0 && counted.length === 0;
              expect(last.stage === 'along').toBe(!isOwn);
              if (!isOwn) observed.along++;
            }
          }
        }
      },
    ),
    { numRuns: 1_000 },
  );
  expect(Math.min(...Object.values(observed))).toBeGreaterThan(20);
});

test('an explanation lists all reasons of a stage, and equal ones once', () => {
  const stream = { record: { id: 'a' } };
  const reasons = [stopped('filter', 'of one option'), passed('filter', 'of another option')];
  const explained = explainRecords<typeof stream, string>(
    (addReasonOf) => {
      for (const reason of [...reasons, ...reasons]) addReasonOf(stream, 'record')(reason);
      return [[stream, ['record']]];
    },
    (_record, _stream, verdict) => verdict as never,
  );
  expect(explained.get('a')).toEqual([{ isIncluded: true, reasons }]);
});

/** Replaces the emitter of native transfers, whose logs are observed like those of a token. */
const asToken = <T>(made: T): T => {
  if (made === NATIVE) return `0x${'7'.repeat(40)}` as T;
  if (Array.isArray(made)) return made.map(asToken) as T;
  if (typeof made !== 'object' || made === null) return made;
  return Object.fromEntries(Object.entries(made).map(([key, each]) => [key, asToken(each)])) as T;
};

test('property: observed events equal those of a stream without selection, and include every match', () => {
  const observed = { events: 0, unmatched: 0 };
  const OPEN = { includeContractLogs: true, includeAllTxLogs: false } as const;
  fc.assert(
    fc.property(anyBlock, anyStream, anySpam, (made, stream, spamLists) => {
      const index = toIndex([stream]);
      const block = toBlock(made);
      for (const chain of CHAINS) {
        const counts = (logs: readonly number[]): Record<string, number> => {
          const topics = logs.map((n) => block.logs[n]!.topics).filter(({ length }) => length > 0);
          const found: Record<string, number> = {};
          for (const [topic0, ...inputs] of topics) {
            const event = `${topic0} ${inputs.length}`;
            found[event] = (found[event] ?? 0) + 1;
          }
          return found;
        };
        const flags = { ...stream.flags, ...OPEN, filterPossibleSpamAddresses: false };
        const open = {
          ...stream,
          events: { topic0: null, abi: null, advancedOptions: null },
          flags,
        };
        const events = Object.fromEntries(
          countObservedEvents(index, chain, block).map(({ topic0, indexed, count }) => [
            `${topic0} ${indexed}`,
            count,
          ]),
        );
        expect(events).toEqual(counts(read(asToken(open), chain, asToken(made), new Set()).logs));
        observed.events += Object.keys(events).length;

        const asIs = { ...stream, flags: { ...stream.flags, includeAllTxLogs: false } };
        const matched = counts(read(asIs, chain, made, new Set(spamLists[chain])).logs);
        for (const [event, count] of Object.entries(matched)) {
          expect(events[event]).toBeGreaterThanOrEqual(count);
        }
        observed.unmatched += Object.keys(events).filter((event) => !(event in matched)).length;
      }
    }),
    { numRuns: 500 },
  );
  expect(Math.min(...Object.values(observed))).toBeGreaterThan(50);
});
