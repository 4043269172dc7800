/**
 * Attacks proofs: alters a genuine webhook and its proofs anywhere, and expects `verifyLogProof` to
 * accept only webhooks with the same meaning.
 */
import { type EvmWebhook, isSluiceError, verifyLogProof } from '@sluice/kit';
import type { ScriptedLog } from '@sluice/testkit';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { type ProvenWebhook, readProvenWebhook } from './provenWebhook.ts';

const topic = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as const;
const FIRST = `0x${'fa'.repeat(32)}` as const;
const [TOKEN, OTHER] = [`0x${'70'.repeat(20)}`, `0x${'c4'.repeat(20)}`] as const;
const FROM = `0x${'a1'.repeat(32)}` as const;
/** Logs with each number of topics, with and without data. Others do not match. */
const LOG = {
  plain: { address: TOKEN, topics: [FIRST] },
  data: { address: TOKEN, topics: [FIRST], data: '0xabcdef' },
  one: { address: OTHER, topics: [FIRST, FROM], data: `0x${'00'.repeat(32)}` },
  two: { address: TOKEN, topics: [FIRST, FROM, topic(2)] },
  three: { address: TOKEN, topics: [FIRST, FROM, topic(2), topic(3)], data: '0x01' },
  other: { address: TOKEN, topics: [topic(9)] },
} as const satisfies Record<string, ScriptedLog>;
const { plain, data, one, two, three, other } = LOG;
const LOGS: readonly (readonly ScriptedLog[])[] = [
  [three, three, two],
  [],
  [other, plain, plain, other, plain],
  [two],
  [two],
  [other, data, one, other, three],
  ...Array.from({ length: 121 }, () => []),
  [plain, other],
  // The only transaction whose key in the trie starts with 0x81.
  [three],
];

let webhook: ProvenWebhook;
beforeAll(async () => {
  const to = `0x${'bb'.repeat(20)}` as const;
  ({ webhook } = await readProvenWebhook(LOGS.map((logs) => ({ to, logs }))));
});

/** Returns whether the verifier accepts the webhook; it must not throw any other error. */
function isAccepted(given: unknown): boolean {
  try {
    const { hash } = webhook.block;
    expect(verifyLogProof(given as EvmWebhook, { blockHash: hash })).toEqual({
      isVerified: true,
      blockHash: hash,
    });
    return true;
  } catch (error) {
    if (isSluiceError(error, 'invalid_proof')) return false;
    throw error;
  }
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Returns whether every statement of the webhook is true, each at most once. */
function isTrue(given: { block: Json; logs: Json; proofs: Json }): boolean {
  const { block, logs, proofs } = given as unknown as ProvenWebhook;
  if (JSON.stringify(sortKeys(block)) !== JSON.stringify(sortKeys(webhook.block))) return false;
  const stated = new Map<string, Stated>();
  for (const { logIndex, transactionHash, address, data: bytes, ...rest } of logs) {
    const own = proofs.receipts.filter((each) => isSameHex(each.transactionHash, transactionHash));
    const receipt = own[0];
    if (own.length !== 1 || receipt === undefined) return false;
    const index = toIndex(receipt.transactionIndex);
    const position = toIndex(logIndex) - toIndex(receipt.firstLogIndex);
    const key = `${index} ${position}`;
    const truth = LOGS[index]?.[position];
    if (truth === undefined || stated.has(key)) return false;
    stated.set(key, { logIndex: Number(logIndex), index, position });
    const values = [address, bytes, rest.topic0, rest.topic1, rest.topic2, rest.topic3];
    const expected = [truth.address, truth.data ?? '0x', ...truth.topics];
    if (!values.every((value, n) => isSameHex(value, expected[n] ?? null))) return false;
    if (Object.keys(rest).some((key) => !/^(topic[0-3]|triggers|triggered_by)$/.test(key)))
      return false;
  }
  // The block's order of logs is the order of their indices.
  return isAscending([...stated.values()].toSorted((a, b) => a.logIndex - b.logIndex));
}

interface Stated {
  logIndex: number;
  index: number;
  position: number;
}

const isAscending = (logs: readonly Stated[]): boolean =>
  logs.every(({ logIndex, index, position }, n) => {
    const next = logs[n + 1];
    if (next === undefined) return true;
    const isNext = next.index === index && next.position - position === next.logIndex - logIndex;
    return isNext || (next.index > index && next.logIndex > logIndex);
  });

const sortKeys = (value: object): [string, unknown][] =>
  Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));

const isSameHex = (value: unknown, expected: string | null): boolean =>
  typeof value === 'string'
    ? value.toLowerCase() === expected?.toLowerCase()
    : (value ?? null) === null && expected === null;

const toIndex = (value: unknown): number =>
  typeof value === 'string' && String(Number(value)) === value ? Number(value) : Number.NaN;

/** A value inside the webhook. */
interface Place {
  holder: { [key: string]: Json };
  key: string;
}

function placesIn(value: Json, found: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return found;
  const holder = value as { [key: string]: Json };
  for (const key of Object.keys(holder)) {
    found.push({ holder, key });
    placesIn(holder[key]!, found);
  }
  return found;
}

const WIDE = '０１２３４５６７８９';
/** Spellings of a string that a careless reader or verifier may accept instead. */
const SPELLINGS: readonly ((text: string) => Json)[] = [
  (text) => Number(text),
  (text) => [text],
  (text) => ({ 0: text, length: 1 }),
  (text) => ` ${text}`,
  (text) => `${text}\n`,
  (text) => `\u{200b}${text}`,
  (text) => `${text}\0`,
  (text) => text.toUpperCase(),
  (text) => text.replace(/^0x/, ''),
  (text) => `0x${text}`,
  (text) => `0x${Number(text).toString(16)}`,
  (text) => `0${text}`,
  (text) => `${text}.0`,
  (text) => `${text}e0`,
  (text) => `+${text}`,
  (text) => `-${text}`,
  (text) => text.replaceAll(/\d/g, (digit) => WIDE[Number(digit)]!),
  (text) => text.replace(/^0x/, '0x00'),
  (text) => `${text}00`,
  (text) => text.slice(0, -2),
  (text) => text.replace(/.$/, (last) => (last === '1' ? '2' : '1')),
  (text) => text.replace(/[a-f]/, 'g'),
  () => null,
  () => '',
  () => '0x',
  () => '0',
  () => true,
  () => [],
  () => ({}),
];

const NAMES = [
  ...['topics', 'topic4', 'Topic1', 'topic1 ', 'ADDRESS', 'blockHash', 'transactionIndex'],
  ...['__proto__', 'constructor', 'toString', 'length', 'removed', 'index', '0', 'logs'],
];

type Attack = (given: ProvenWebhook, a: number, b: number, c: number) => void;

const pick = <T>(from: readonly T[], n: number): T => from[n % from.length]!;

/** Sets a property, also one named `__proto__`. */
const set = (holder: object, key: string, value: unknown): void => {
  Object.defineProperty(holder, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
};

/** Chooses a place in the block, a log, or the proofs, each with the same probability. */
function placeIn({ block, logs, proofs }: ProvenWebhook, a: number, b: number): Place {
  const parts: unknown[] = [{ block }, { logs }, { proofs }, { log: pick(logs, b) }];
  const places = placesIn(pick(parts, a) as Json);
  return pick(places, Math.floor(a / parts.length) + b);
}

const toText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

const asArray = (value: unknown): Json[] | undefined =>
  Array.isArray(value) && value.length > 0 ? (value as Json[]) : undefined;

const ATTACKS: Record<string, Attack> = {
  respell(given, a, b, c) {
    const { holder, key } = placeIn(given, a, b);
    const value = holder[key];
    if (typeof value === 'string') set(holder, key, pick(SPELLINGS, c)(value));
    else set(holder, key, pick<Json>([null, '', 0, [], {}, JSON.stringify(value)], c));
  },
  remove(given, a, b) {
    const { holder, key } = placeIn(given, a, b);
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  },
  replace(given, a, b, c) {
    const { holder, key } = placeIn(given, a, b);
    const from = placeIn(given, c, b + 1);
    set(holder, key, structuredClone(from.holder[from.key])!);
  },
  join(given, a, b, c) {
    const { holder, key } = placeIn(given, a, b);
    const from = placeIn(given, c, b + 1);
    set(holder, key, [holder[key]!, from.holder[from.key]!].map(toText).join());
  },
  rename(given, a, b, c) {
    const { holder, key } = placeIn(given, a, b);
    set(holder, pick([...NAMES, ...Object.keys(holder)], c), holder[key]);
    delete holder[key];
  },
  add(given, a, b, c) {
    const { holder, key } = placeIn(given, a, b);
    if (!Array.isArray(holder)) set(holder, pick(NAMES, c), structuredClone(holder[key]));
  },
  swap(given, a, b, c) {
    const { holder, key } = placeIn(given, a, b);
    const otherKey = pick(Object.keys(holder), c);
    [holder[key], holder[otherKey]] = [holder[otherKey]!, holder[key]!];
  },
  repeat(given, a, b, c) {
    const list = asArray(pick<unknown>([given.logs, given.proofs.receipts], a));
    list?.splice(c % list.length, 0, structuredClone(pick(list, b)));
  },
  renumber({ logs }, a, b, c) {
    pick(logs, a).logIndex = pick(SPELLINGS, c)(String(b % 16)) as string;
  },
  moveTopics({ logs }, a, b, c) {
    const log = pick(logs, a);
    const topics = [log.topic0, log.topic1, log.topic2, log.topic3];
    topics.splice(b % 4, 0, pick([null, '', '0x', undefined as never], c));
    [log.topic0, log.topic1, log.topic2, log.topic3] = topics as [string, string, string, string];
  },
  joinTopics({ logs }, a, b, c) {
    const log = pick(logs, a);
    const keys = ['topic0', 'topic1', 'topic2', 'topic3'] as const;
    const [into, from] = [pick(keys, b), pick(keys, c)];
    log[into] = [log[into], log[from]].join();
    log[from] = null;
  },
  /** Copies a transaction with its logs and its proof under an invented hash. */
  copyTransaction({ logs, proofs }, a, b, c) {
    const receipt = structuredClone(pick(proofs.receipts, a));
    const { transactionHash } = receipt;
    const hash = pick([topic(b), transactionHash.toUpperCase(), ` ${transactionHash}`], c);
    const shift = pick([0, 1, 3, 20], b);
    receipt.transactionHash = hash;
    receipt.firstLogIndex = String(Number(receipt.firstLogIndex) + shift);
    receipt.transactionIndex = pick<(text: string) => string>(
      [(text) => text, (text) => `0${text}`, (text) => String(Number(text) + 1)],
      c,
    )(receipt.transactionIndex);
    proofs.receipts.splice(pick([0, 1, proofs.receipts.length], b), 0, receipt);
    for (const log of logs.filter((each) => each.transactionHash === transactionHash)) {
      const logIndex = String(Number(log.logIndex) + shift);
      logs.push({ ...log, transactionHash: hash, logIndex });
    }
  },
  /** Moves the logs of a transaction in the block, with their proof. */
  shiftTransaction({ logs, proofs }, a, b, c) {
    const receipt = pick(proofs.receipts, a);
    const shift = (b % 40) - 20;
    const move = (index: string): string => String(Number(index) + shift);
    receipt.firstLogIndex = move(receipt.firstLogIndex);
    const own = logs.filter((each) => each.transactionHash === receipt.transactionHash);
    for (const log of c % 3 === 0 ? [] : own) log.logIndex = move(log.logIndex);
  },
  /** Gives the logs of one transaction, and its proof, to another. */
  mergeTransactions(given, a, b) {
    const { logs, proofs } = given;
    const [one, from] = [pick(proofs.receipts, a), pick(proofs.receipts, b)];
    given.logs = logs.filter((each) => each.transactionHash !== one.transactionHash);
    for (const log of given.logs) {
      if (log.transactionHash === from.transactionHash) log.transactionHash = one.transactionHash;
    }
    from.transactionHash = one.transactionHash;
  },
  /** Alters a value in a log, and in the nodes of its proof. */
  alterBoth({ logs, proofs }, a, b, c) {
    const log = pick(logs, a);
    const key = pick(['address', 'data', 'topic0', 'topic1', 'topic2', 'topic3'] as const, b);
    const value = log[key];
    if (value === null || value === '0x') return;
    const altered = value.replace(/.$/, (last) =>
      ((Number.parseInt(last, 16) + 1 + (c % 15)) % 16).toString(16),
    );
    log[key] = altered;
    const receipt = proofs.receipts.find((each) => each.transactionHash === log.transactionHash);
    receipt!.nodes = receipt!.nodes.map((node) => node.replace(value.slice(2), altered.slice(2)));
  },
  /** Proves the receipt of one transaction as that of another. */
  moveProof({ proofs }, a, b, c) {
    const [one, from] = [pick(proofs.receipts, a), pick(proofs.receipts, b)];
    one.nodes = [...from.nodes];
    if (c % 2 === 0) one.transactionIndex = String(Number(from.transactionIndex) + (c % 3));
  },
  renumberTransaction({ proofs }, a, b) {
    const receipt = pick(proofs.receipts, a);
    receipt.transactionIndex = String(Number(receipt.transactionIndex) + (b % 130));
  },
};

test('verifyLogProof accepts a genuine webhook, its subsets, and other spellings of its bytes', () => {
  expect(isAccepted(webhook)).toBe(true);
  expect(webhook.logs.length).toBe(LOGS.flat().filter((log) => log !== other).length);
  fc.assert(
    fc.property(fc.infiniteStream(fc.boolean()), (keep) => {
      const given = structuredClone(webhook);
      given.logs = given.logs.filter(() => keep.next().value);
      for (const log of given.logs) {
        log.address = log.address.toUpperCase();
        log.data = log.data.toUpperCase();
        if (log.topic3 === null) delete (log as Partial<typeof log>).topic3;
      }
      given.logs.reverse();
      expect(isTrue(given as never)).toBe(true);
      expect(isAccepted(given)).toBe(true);
    }),
    { numRuns: 20 },
  );
});

test('verifyLogProof accepts no altered webhook with another meaning', { timeout: 300_000 }, () => {
  const changes = fc.record({
    attack: fc.constantFrom(...Object.keys(ATTACKS)),
    a: fc.nat(10_000),
    b: fc.nat(10_000),
    c: fc.nat(10_000),
  });
  fc.assert(
    fc.property(fc.array(changes, { minLength: 1, maxLength: 3 }), (all) => {
      const forged = structuredClone(webhook);
      try {
        for (const { attack, a, b, c } of all) ATTACKS[attack]!(forged, a, b, c);
      } catch {
        // An earlier change removed what this one changes.
      }
      const received = JSON.parse(JSON.stringify(forged)) as ProvenWebhook;
      if (isAccepted(received)) expect(isTrue(received as never)).toBe(true);
    }),
    { numRuns: 6_000 },
  );
});

test('verifyLogProof rejects a log whose properties are inherited', () => {
  const forged = { ...webhook, logs: webhook.logs.map((log) => Object.create(log) as typeof log) };
  expect(isAccepted(forged)).toBe(false);
});
