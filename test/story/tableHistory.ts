/**
 * Simulates the webhooks of a stream with removal webhooks over a random history of a chain: which
 * deliveries exist, in which order they are created, and in which order they arrive.
 */
import { type EvmWebhook, TEST_WEBHOOK } from '@sluice/kit/contract';
import { type Abi, encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';
import { createRandom, type Random } from '../../packages/demo/src/random.ts';

const abi = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Transfer(address indexed from, address indexed to, uint256 indexed value)',
  'event Note(string indexed topic, string text, uint32[] sizes, bool isFinal)',
]);
const CONFIRMATIONS = 12;
const STREAM = '0196f000-0000-7000-8000-000000000000';
const GENESIS = 1_700_000_000;

interface Block {
  readonly number: number;
  readonly hash: `0x${string}`;
  readonly parent: Block | undefined;
}

export interface Delivery {
  readonly id: string;
  readonly webhook: EvmWebhook;
}

interface Sending extends Delivery {
  id: string;
  readonly phase: 'unconfirmed' | 'confirmed' | 'removed';
  state: 'pending' | 'claimed' | 'arrived' | 'canceled';
}

/** A match of a block, or of a part of it. */
interface Match {
  readonly block: Block;
  readonly part: number;
  isOrphaned: boolean;
  isConfirmed: boolean;
  readonly sendings: Sending[];
}

export interface History {
  /** Webhooks in the order of their arrival. */
  readonly arrivals: readonly Delivery[];
  /** The confirmed webhooks of the final chain. */
  readonly final: readonly Delivery[];
}

/** Creates a history with reorgs of up to `maxDepth` blocks. */
export function createHistory(seed: number, maxDepth: number): History {
  const random = createRandom(seed);
  const arrivals: Delivery[] = [];
  let created = 0;
  const newId = (): string => {
    const order = (created++).toString(16).padStart(12, '0');
    return `${order.slice(0, 8)}-${order.slice(8)}-7000-8000-${random.hex(6).slice(2)}`;
  };
  const matches: Match[] = [];
  const waiting: Sending[] = [];
  const inFlight: Sending[] = [];
  let head: Block | undefined;

  const create = (match: Match, phase: Sending['phase']): void => {
    const body = bodyOf(match.block, match.part);
    const webhook: EvmWebhook =
      phase === 'removed'
        ? { ...body, confirmed: false, removed: true }
        : { ...body, confirmed: phase === 'confirmed' };
    const sending: Sending = { id: newId(), webhook, phase, state: 'pending' };
    match.sendings.push(sending);
    waiting.push(sending);
  };
  const arrive = (sending: Sending): void => {
    if (sending.state === 'claimed') sending.state = 'arrived';
    arrivals.push(sending);
  };
  /** Sends some waiting deliveries, in any order. Some are in flight for long, or arrive again. */
  const send = (share: number): void => {
    for (const sending of waiting.splice(0)) {
      if (sending.state !== 'pending') continue;
      if (random.next() > share) {
        waiting.push(sending);
        continue;
      }
      sending.state = 'claimed';
      inFlight.push(sending);
    }
    for (const sending of shuffle(random, inFlight.splice(0))) {
      if (random.next() > share) inFlight.push(sending);
      else arrive(sending);
      if (random.next() < 0.1) inFlight.push(sending);
    }
  };
  const add = (block: Block): void => {
    head = block;
    const known = matches.filter((match) => match.block.hash === block.hash);
    if (known.length === 0) {
      for (let part = 0; part < partsOf(block); part++) {
        const match = { block, part, isOrphaned: false, isConfirmed: false, sendings: [] };
        matches.push(match);
        create(match, 'unconfirmed');
      }
    }
    for (const match of newestOf(known)) restore(match);
    for (const match of matches) {
      if (match.isOrphaned || match.isConfirmed) continue;
      if (match.block.number > block.number - CONFIRMATIONS) continue;
      match.isConfirmed = true;
      create(match, 'confirmed');
    }
  };
  const restore = (match: Match): void => {
    const removal = match.sendings.find(({ phase }) => phase === 'removed');
    if (removal === undefined) {
      match.isOrphaned = false;
      match.isConfirmed = match.sendings.some(({ phase }) => phase === 'confirmed');
      for (const sending of match.sendings) {
        if (sending.state !== 'canceled') continue;
        sending.state = 'pending';
        sending.id = newId();
        waiting.push(sending);
      }
      return;
    }
    if (removal.state === 'pending') removal.state = 'canceled';
    const { block, part } = match;
    const again = { block, part, isOrphaned: false, isConfirmed: false, sendings: [] };
    matches.push(again);
    create(again, 'unconfirmed');
  };
  const orphan = (block: Block): void => {
    for (const match of matches) {
      if (match.block.hash !== block.hash || match.isOrphaned) continue;
      match.isOrphaned = true;
      const isClaimed = match.sendings.some(({ state }) => ['claimed', 'arrived'].includes(state));
      for (const sending of match.sendings) {
        if (sending.state === 'pending') sending.state = 'canceled';
      }
      const isUnknown = matches.some(
        (each) =>
          each.block === match.block &&
          each.part === match.part &&
          each.sendings.some(({ phase, state }) => phase === 'removed' && state === 'canceled'),
      );
      if (isClaimed || isUnknown) create(match, 'removed');
    }
  };
  /** Switches to another branch: removes blocks, and adds the blocks of the branch. */
  const switchTo = (tip: Block): void => {
    const branch = listChain(tip);
    const isIn = new Set(branch.map(({ hash }) => hash));
    while (head !== undefined && !isIn.has(head.hash)) {
      orphan(head);
      head = head.parent;
    }
    const from = head === undefined ? -1 : branch.findIndex(({ hash }) => hash === head!.hash);
    for (const block of branch.slice(from + 1)) add(block);
  };
  const extend = (parent: Block | undefined): Block => ({
    number: (parent?.number ?? 0) + 1,
    hash: random.hex(32),
    parent,
  });

  const tips: Block[] = [];
  const steps = 6 + random.below(20);
  for (let step = 0; step < steps; step++) {
    const kind = random.next();
    if (head === undefined || kind < 0.5) {
      for (let n = random.below(8); n >= 0; n--) add(extend(head));
    } else if (kind < 0.75 || tips.length === 0) {
      const depth = Math.min(1 + random.below(maxDepth), head.number);
      tips.push(head);
      let tip: Block | undefined = head;
      for (let n = 0; n < depth; n++) tip = tip?.parent;
      for (let n = 0; n <= depth; n++) {
        tip = extend(tip);
      }
      switchTo(tip!);
    } else {
      // Returns to an earlier branch, which has become longer.
      const tip = random.pick(tips);
      tips.push(head);
      switchTo(extend(tip));
    }
    send(0.2 + random.next() * 0.8);
  }
  // A block that a longer branch has confirmed stays confirmed.
  const highest = Math.max(...tips.map(({ number }) => number));
  while (head!.number < highest) add(extend(head));
  while (waiting.some(({ state }) => state === 'pending')) send(0.7);
  // An attempt in flight of a removed block may never arrive.
  for (const sending of inFlight) {
    if (sending.state === 'claimed' || random.next() < 0.5) arrive(sending);
  }
  const confirmed = listChain(head!).filter(({ number }) => number <= head!.number - CONFIRMATIONS);
  const isConfirmed = new Set(confirmed.map(({ hash }) => hash));
  const final = listChain(head!).flatMap((block) =>
    Array.from({ length: partsOf(block) }, (_, part) => ({
      id: newId(),
      webhook: { ...bodyOf(block, part), confirmed: isConfirmed.has(block.hash) },
    })),
  );
  return { arrivals, final };
}

const newestOf = (matches: readonly Match[]): Match[] => [
  ...new Map(matches.map((match) => [match.part, match])).values(),
];

function listChain(tip: Block): Block[] {
  const chain: Block[] = [];
  for (let block: Block | undefined = tip; block !== undefined; block = block.parent) {
    chain.unshift(block);
  }
  return chain;
}

export function shuffle<Item>(random: Random, items: readonly Item[]): Item[] {
  return items
    .map((item) => [random.next(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item);
}

const partsOf = ({ hash }: Block): number => (hash.at(-1)! < '4' ? 2 : 1);

const bodies = new Map<string, EvmWebhook>();

/** Returns the body of a part of a block, which depends on the block's hash alone. */
function bodyOf(block: Block, part: number): EvmWebhook {
  const key = `${block.hash} ${part}`;
  const body = bodies.get(key) ?? createBody(block, part);
  if (bodies.size > 1000) bodies.clear();
  bodies.set(key, body);
  return body;
}

function createBody({ number, hash, parent }: Block, part: number): EvmWebhook {
  const random = createRandom(Number.parseInt(hash.slice(2, 9), 16) + part);
  const account = (): `0x${string}` => `0x${String(random.below(9)).repeat(40)}`;
  const body: EvmWebhook = {
    ...TEST_WEBHOOK,
    streamId: STREAM,
    tag: 'histories',
    chainId: '0x1',
    abi,
    block: { number: String(number), hash, timestamp: String(GENESIS + number * 12) },
    logs: [],
    txs: [],
    txsInternal: [],
    erc20Transfers: [],
    nftTransfers: [],
    nativeBalances: [],
  };
  const count = random.below(3) + (part === 0 ? 1 : 0);
  for (let n = 0; n < count; n++) {
    // Two neighboring heights share transactions, so that those of a branch are also in blocks of
    // others at either height. Parts share none.
    const slot = Math.floor(number / 2) * 8 + random.below(4) * 2 + part;
    const transactionHash = `0x${String(slot).padStart(64, '0')}`;
    const earlier = number % 2 === 1 && parent !== undefined ? bodyOf(parent, part) : undefined;
    if ([...body.txs, ...(earlier?.txs ?? [])].some((tx) => tx.hash === transactionHash)) continue;
    body.txs.push({
      hash: transactionHash,
      gas: '21000',
      gasPrice: '1000000000',
      nonce: String(number),
      input: '0x',
      transactionIndex: String(n),
      fromAddress: account(),
      toAddress: account(),
      value: String(random.below(1000)),
      type: '2',
      v: '0',
      r: '0',
      s: '0',
      receiptCumulativeGasUsed: '21000',
      receiptGasUsed: '21000',
      receiptContractAddress: null,
      receiptRoot: null,
      receiptStatus: '1',
    });
    for (let log = random.below(3); log > 0; log--) {
      const logIndex = String(n * 3 + log);
      const [from, to, value] = [account(), account(), BigInt(random.below(1000))];
      const kind = random.below(3);
      body.logs.push({ ...logOf(kind, from, to, value), transactionHash, logIndex });
      const token = { contract: account(), tokenName: 'Name\0', tokenSymbol: 'N\ud800' };
      const transfer = { transactionHash, logIndex, from, to, ...token };
      if (kind === 0) {
        body.erc20Transfers.push({ ...transfer, value: String(value), tokenDecimals: '18' });
      } else if (kind === 1) {
        const nft = { operator: null, tokenId: String(value), amount: '1' };
        body.nftTransfers.push({ ...transfer, ...nft, tokenContractType: 'ERC721' });
      }
    }
    if (random.next() < 0.3) {
      body.txsInternal.push({
        from: account(),
        to: account(),
        value: '5',
        gas: '0',
        transactionHash,
        internalTransactionIndex: '0',
      });
    }
  }
  if (random.next() < 0.3) body.nativeBalances.push({ address: account(), balance: '7' });
  return body;
}

function logOf(kind: number, from: `0x${string}`, to: `0x${string}`, value: bigint) {
  const item = abi[kind]!;
  const topics =
    item.name === 'Note'
      ? encodeEventTopics({ abi: [item] as Abi, args: { topic: 'news' } })
      : encodeEventTopics({ abi: [item] as Abi, args: { from, to, value } });
  const data =
    kind === 0
      ? encodeAbiParameters([{ type: 'uint256' }], [value])
      : kind === 1
        ? '0x'
        : encodeAbiParameters(
            [{ type: 'string' }, { type: 'uint32[]' }, { type: 'bool' }],
            ['a\0b', [1, Number(value)], value % 2n === 0n],
          );
  const [topic0, topic1, topic2, topic3] = topics as (string | undefined)[];
  return {
    address: `0x${'c'.repeat(40)}`,
    data,
    topic0: topic0 ?? null,
    topic1: topic1 ?? null,
    topic2: topic2 ?? null,
    topic3: topic3 ?? null,
  };
}
