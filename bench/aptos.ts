/**
 * Measures how many Aptos transactions the service processes per second of processor time: parsing
 * a node's JSON or the messages of the transaction stream, matching, and building bodies. Uses
 * recorded transactions with new hashes if the folder of recordings exists, otherwise scripted
 * ones.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createScriptedAptosLedger, encodeAptosMessage, scriptedAptos } from '@sluice/testkit';
import { decodeResponse } from '../packages/service/src/families/aptos/ingest/proto.ts';
import { toAptosTransaction } from '../packages/service/src/families/aptos/ingest/transaction.ts';
import type {
  AptosJson,
  AptosTransaction,
} from '../packages/service/src/families/aptos/match/block.ts';
import { createAptosIndex } from '../packages/service/src/families/aptos/match/streamIndex.ts';
import { matchAptosBlock } from '../packages/service/src/families/aptos/match/match.ts';
import { toAptosWebhookParts } from '../packages/service/src/families/aptos/match/webhook.ts';
import { packAddresses } from '../packages/service/src/store/addresses/packedAddresses.ts';
import {
  type AptosStreamRecord,
  DEFAULT_APTOS_OPTIONS,
  DEFAULT_DELIVERY,
} from '../packages/service/src/store/streams/contract.ts';
import type { Figures } from './figures.ts';

const CHAIN = 'aptos:mainnet';
const STREAMS = 1_000;
const ADDRESSES_PER_STREAM = 1_000;
const PAGE = 100;
const PAGES = 20;
const ROUNDS = 5;
const ROUND_MS = 2_000;
/**
 * Average number of transactions per second on mainnet; `BAR` is the goal, as a multiple of this
 * average.
 */
const MAINNET_PER_SECOND = 66;
const BAR = 50;

const fixtures = join(
  process.env['SLUICE_FIXTURES'] ??
    fileURLToPath(new URL('../../shared/fixtures', import.meta.url)),
  'aptos/rest-mainnet',
);

export default async function aptos(): Promise<Figures> {
  const samples = existsSync(fixtures) ? readRecorded() : makeScripted();
  const index = createAptosIndex();
  for (let n = 0; n < STREAMS; n++) {
    const id = `stream-${n}`;
    index.put(stream(id));
    const addresses = Array.from({ length: ADDRESSES_PER_STREAM }, (_, k) => address(n, k));
    // One stream in a hundred also watches the sender of a sample, so that there are matches.
    const busy = samples[n % samples.length]!['sender'];
    if (n % 100 === 0 && typeof busy === 'string') addresses.push(busy);
    index.addAddresses(id, packAddresses(addresses, 32).bytes);
  }

  // The input in both forms in which the service receives it: JSON from a fullnode, and messages of
  // the transaction stream. Each transaction has its own hash.
  const pages = Array.from({ length: PAGES }, (_, p) =>
    Array.from({ length: PAGE }, (__, k) => {
      const n = p * PAGE + k;
      return {
        ...samples[n % samples.length],
        version: String(n),
        hash: `0x${n.toString(16).padStart(64, '0')}`,
      };
    }),
  );
  const texts = pages.map((page) => JSON.stringify(page));
  const messages = await Promise.all(pages.map((page) => encodeAptosMessage(page)));
  let matched = 0;
  const measure = (parse: (page: number) => readonly AptosJson[]): number => {
    const rates: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const start = process.cpuUsage();
      let done = 0;
      for (let n = 0; spentMs(start) < ROUND_MS; n++) {
        const transactions = parse(n % PAGES).map((raw) => toAptosTransaction(raw, 'bench'));
        matched += matchPage(index, transactions);
        done += transactions.length;
      }
      rates.push((done * 1000) / spentMs(start));
    }
    return rates.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!;
  };
  const rate = measure((page) => JSON.parse(texts[page]!) as AptosJson[]);
  const streamed = measure((page) => decodeResponse(messages[page]!).transactions);
  const meanOf = (all: readonly { length: number }[]): number =>
    Math.round(all.reduce((sum, { length }) => sum + length, 0) / (PAGES * PAGE));
  return {
    'transactions parsed and matched': {
      value: rate,
      unit: 'tx/s',
      note: `by processor time of the whole process, median of ${ROUNDS}; ${samples.length} ${existsSync(fixtures) ? 'recorded' : 'scripted'} transactions in turn, ${meanOf(texts)} characters on average`,
    },
    'the same from the transaction stream': {
      value: streamed,
      unit: 'tx/s',
      note: `${meanOf(messages)} bytes on average; ${(streamed / MAINNET_PER_SECOND).toFixed(0)} times mainnet`,
    },
    'times mainnet': {
      value: rate / MAINNET_PER_SECOND,
      unit: 'x',
      note: `of ${MAINNET_PER_SECOND} tx/s; goal ${BAR}${rate < BAR * MAINNET_PER_SECOND ? ', MISSED' : ''}`,
    },
    'addresses watched': {
      value: index.addresses.size,
      unit: '',
      note: `by ${STREAMS} streams; ${matched} matches`,
    },
  };
}

/**
 * Returns the processor time of this process since an earlier reading, in milliseconds. Unlike
 * elapsed time, it does not depend on other programs.
 */
const spentMs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};

function matchPage(
  index: ReturnType<typeof createAptosIndex>,
  transactions: AptosTransaction[],
): number {
  const block = {
    number: 1,
    hash: '0x',
    parentHash: '0x',
    timestamp: 1,
    timestampMicros: '1',
    firstVersion: 0,
    lastVersion: transactions.length,
    transactions,
    sizeBytes: 0,
  };
  const matches = matchAptosBlock(index, CHAIN, block);
  for (const match of matches) JSON.stringify(toAptosWebhookParts('mainnet', block, match));
  return matches.length;
}

function readRecorded(): AptosJson[] {
  const found: AptosJson[] = [];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(walk);
    if (typeof value !== 'object' || value === null) return;
    const raw = value as AptosJson;
    if (typeof raw['version'] === 'string' && typeof raw['hash'] === 'string' && 'changes' in raw) {
      found.push(raw);
    } else Object.values(raw).forEach(walk);
  };
  for (const file of readdirSync(fixtures))
    walk(JSON.parse(readFileSync(join(fixtures, file), 'utf8')));
  return found;
}

function makeScripted(): AptosJson[] {
  const ledger = createScriptedAptosLedger();
  const account = (n: number): `0x${string}` => `0x${n.toString(16).padStart(64, 'c')}`;
  for (let n = 0; n < 50; n++) {
    ledger.mine({
      transactions: [
        scriptedAptos.transfer({ from: account(n), to: account(n + 1), amount: 5n }),
        scriptedAptos.coinTransfer({ from: account(n), to: account(n + 2), amount: 5n }),
      ],
    });
  }
  return ledger
    .blocks()
    .slice(1)
    .flatMap(({ transactions }) => transactions as unknown as AptosJson[]);
}

const address = (stream: number, n: number): string =>
  `0x${(stream * 7919 + 1).toString(16).padStart(32, 'a')}${n.toString(16).padStart(32, 'b')}`;

const stream = (id: string): AptosStreamRecord => ({
  family: 'aptos',
  id,
  tag: id,
  description: '',
  webhookUrl: '',
  chainIds: [CHAIN],
  ...DEFAULT_DELIVERY,
  options: { ...DEFAULT_APTOS_OPTIONS, includeEvents: true },
  status: 'active',
  statusMessage: '',
  errorSince: null,
  addressCount: ADDRESSES_PER_STREAM,
  childCount: 0,
  createdAt: 0,
  updatedAt: 0,
});
