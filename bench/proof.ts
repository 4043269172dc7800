/**
 * Measures how long a worker thread takes to prove Ethereum block 18,000,000 from a node's JSON:
 * the transactions root, the receipts root and the header. For comparison, it builds the same tries
 * with @ethereumjs/mpt, and copies the block and its receipts as for another thread. Also measures
 * the longest search for the layout of a header.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker, isMainThread, parentPort } from 'node:worker_threads';
import type { Json } from '../packages/service/src/ingest/json.ts';
import {
  createHeaderProver,
  toFindings,
} from '../packages/service/src/families/evm/ingest/headerLayout.ts';
import { createHeaderTrial } from '../packages/service/src/families/evm/ingest/layout/headerTrial.ts';
import { networkOf } from '../packages/service/src/families/evm/ingest/networks.ts';
import { checkRoots } from '../packages/service/src/families/evm/ingest/proof/proveBlock.ts';
import { encodeReceipt } from '../packages/service/src/families/evm/ingest/proof/receipts.ts';
import {
  encodeTransaction,
  typeOf,
} from '../packages/service/src/families/evm/ingest/proof/transactions.ts';
import setup from '../test/installPeers.ts';
import { type Figures, toFigure } from './figures.ts';

const ROUNDS = 1_000;
const PEER_ROUNDS = 50;
const WARM_ROUNDS = 50;

const folder = path.join(
  process.env['SLUICE_FIXTURES'] ??
    fileURLToPath(new URL('../../shared/fixtures', import.meta.url)),
  'evm-networks/ethereum/18000000',
);

interface PeerTrie {
  put(key: Uint8Array, value: Uint8Array): Promise<void>;
  root(): Uint8Array;
}
interface Peer {
  createMPT(): Promise<PeerTrie>;
}

export default async function proof(): Promise<Figures> {
  setup();
  const worker = new Worker(fileURLToPath(import.meta.url), { execArgv: process.execArgv });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

async function measure(): Promise<Figures> {
  const read = (file: string): unknown => JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
  const block = read('block.json') as Json;
  const receipts = read('receipts.json') as Json[];
  const transactions = block['transactions'] as Json[];

  const prover = createHeaderProver();
  const network = networkOf('0x1');
  const ours = await time(ROUNDS, () => {
    const found = [...toFindings(prover.check(block)), ...checkRoots(block, receipts, network)];
    if (found.length > 0) throw new Error(found.map(({ reason }) => reason).join('; '));
  });
  const fields = Array.from({ length: 12 }, (_, n) => `field${n}`);
  const forked = { ...block, ...Object.fromEntries(fields.map((name, n) => [name, `0x00${n}0`])) };
  const search = await time(ROUNDS, () => [...createHeaderTrial(forked).search(fields)]);
  const clone = await time(ROUNDS, () => void structuredClone({ block, receipts }));
  const require = createRequire(new URL('../test/peers/package.json', import.meta.url));
  const { createMPT } = require('@ethereumjs/mpt') as Peer;
  const { RLP } = require('@ethereumjs/rlp') as { RLP: { encode(n: number): Uint8Array } };
  const rootOf = async (values: readonly Uint8Array[]): Promise<string> => {
    const trie = await createMPT();
    for (const [n, value] of values.entries()) await trie.put(RLP.encode(n), value);
    return `0x${Buffer.from(trie.root()).toString('hex')}`;
  };
  const theirs = await time(PEER_ROUNDS, async () => {
    const known = new Map();
    const roots = [
      await rootOf(transactions.map((each) => encodeTransaction(each)!)),
      await rootOf(
        receipts.map((each, n) => encodeReceipt(each, typeOf(transactions[n]!), known)!),
      ),
    ];
    if (roots.join() !== [block['transactionsRoot'], block['receiptsRoot']].join()) {
      throw new Error(`other roots: ${roots.join()}`);
    }
  });
  const what = `${transactions.length} transactions, both roots and the header`;
  return {
    proof_p50: toFigure(ours.p50, 'ms', `${what}, in a worker`),
    proof_p99: toFigure(ours.p99, 'ms', 'the same'),
    proof_cpu: toFigure(ours.cpu, 'ms', 'the same: processor time of this process, mean'),
    search_cpu: toFigure(search.cpu, 'ms', 'a search of 2,000 hashes, mean; goal: at most 50'),
    clone_p50: toFigure(clone.p50, 'ms', 'copying the block and its receipts to another thread'),
    mpt_p50: toFigure(theirs.p50, 'ms', 'both roots by @ethereumjs/mpt, encoded as ours'),
    mpt_p99: toFigure(theirs.p99, 'ms', 'the same'),
  };
}

async function time(rounds: number, work: () => unknown) {
  for (let n = 0; n < Math.min(rounds, WARM_ROUNDS); n++) await work();
  const cpu = process.cpuUsage();
  const times: number[] = [];
  for (let n = 0; n < rounds; n++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  const { user, system } = process.cpuUsage(cpu);
  const sorted = times.toSorted((a, b) => a - b);
  const percentile = (share: number): number => sorted[Math.floor(sorted.length * share)]!;
  return {
    p50: percentile(0.5),
    p99: percentile(0.99),
    cpu: (user + system) / 1_000 / rounds,
  };
}

if (!isMainThread) parentPort!.postMessage(await measure());
