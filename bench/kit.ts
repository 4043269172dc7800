/**
 * Compares the kit with the hosted SDK, `moralis@2.27.2`: verifying and decoding ERC-20 transfers
 * in alternating rounds in one process, import time in a fresh process, and size on disk. Each run
 * gets a newly parsed webhook, with a new ABI object.
 */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EvmWebhook, TEST_WEBHOOK, signWebhook } from '@sluice/kit/contract';
import { decodeLogs, verifySignature } from '@sluice/kit';
import { toRecords } from '@sluice/kit/records';
import { type Hex, decodeEventLog, erc20Abi } from 'viem';
import setup from '../test/installPeers.ts';
import { packKit } from '../scripts/release/packages.ts';
import { installInto } from '../test/packed/install.ts';
import type { Figures } from './figures.ts';

const SECRET = 'bench-secret';
const SIZES = { '2kB': 2_000, '20kB': 20_000, '500kB': 500_000 };
const ROUNDS = 7;
/** Milliseconds for which each side is measured in each round. */
const ROUND_MS = 100;
const IMPORTS = 9;
const ABI = erc20Abi.filter(({ type }) => type === 'event');

/** The parts of the hosted SDK that are used here. */
interface HostedStreams {
  verifySignature(options: { body: unknown; signature: string }): boolean;
  parsedLogs(webhook: unknown): unknown[];
}
interface HostedMapping {
  BatchProcessor: { create(): { process(webhook: unknown): { logs(): unknown[] } } };
}

export default async function kit(): Promise<Figures> {
  setup();
  const require = createRequire(new URL('../test/peers/package.json', import.meta.url));
  const { default: Moralis } = require('moralis') as {
    default: { Streams: HostedStreams; start(config: object): Promise<void> };
  };
  const { BatchProcessor } = require('@moralisweb3/streams') as HostedMapping;
  await Moralis.start({ apiKey: 'bench-key', streamsSecret: SECRET });
  const figures: Figures = {};

  for (const [size, bytes] of Object.entries(SIZES)) {
    const { body, logs } = webhookOf(bytes);
    const signature = signWebhook(body, SECRET);
    const parse = () => JSON.parse(body) as EvmWebhook;
    const verify = measure(parse, {
      theirs: (webhook) => Moralis.Streams.verifySignature({ body: webhook, signature }),
      parsed: (webhook) => verifySignature({ body: webhook, signature, secret: SECRET }),
      raw: () => verifySignature({ body, signature, secret: SECRET }),
    });
    const what = `a webhook of ${body.length.toLocaleString('en')} B, ${logs} logs`;
    figures[`verify_${size}_theirs`] = us(
      verify.theirs,
      `${what}, parsed, the only form it accepts`,
    );
    figures[`verify_${size}_ours`] = us(verify.parsed, 'the same, parsed');
    figures[`verify_${size}_ours_raw`] = us(verify.raw, 'the same, as raw text');
    figures[`verify_${size}_ratio`] = times(verify.theirs / verify.parsed, 'theirs / ours, parsed');

    const decode = measure(parse, {
      theirs: (webhook) => Moralis.Streams.parsedLogs(webhook),
      batch: (webhook) => BatchProcessor.create().process(webhook).logs(),
      ours: (webhook) => decodeLogs(webhook),
      constant: (webhook) => decodeLogs(webhook, ABI),
      checksummed: (webhook) => decodeLogs(webhook, ABI, { addresses: 'checksummed' }),
      viem: decodeWithViem,
      records: (webhook) => toRecords(webhook, { ids: 'compatible' }),
    });
    figures[`decode_${size}_theirs`] = us(decode.theirs / logs, 'a log; parsedLogs()');
    figures[`decode_${size}_theirs_batch`] = us(
      decode.batch / logs,
      'a log; BatchProcessor logs(), ids included',
    );
    figures[`decode_${size}_viem`] = us(
      decode.viem / logs,
      'a log; decodeEventLog(), with cached address checksums',
    );
    figures[`decode_${size}_ours`] = us(decode.ours / logs, 'a log; the ABI of the webhook');
    figures[`decode_${size}_ours_constant`] = us(decode.constant / logs, 'a log; a constant ABI');
    figures[`decode_${size}_ours_checksummed`] = us(
      decode.checksummed / logs,
      'the same, with address checksums',
    );
    figures[`records_${size}_ours`] = us(
      decode.records / logs,
      'a log; toRecords() with the same ids',
    );
    figures[`records_${size}_ratio`] = times(
      decode.batch / decode.records,
      'BatchProcessor / toRecords()',
    );
    figures[`decode_${size}_ratio`] = times(decode.theirs / decode.ours, 'parsedLogs() / ours');
    figures[`decode_${size}_ratio_constant`] = times(
      decode.theirs / decode.constant,
      'parsedLogs() / ours with a constant ABI',
    );
    figures[`decode_${size}_ratio_viem`] = times(decode.viem / decode.constant, 'viem / the same');
  }
  return { ...figures, ...costOfHaving() };
}

const us = (value: number, note: string) => ({ value, unit: 'us', note });
const times = (value: number, note: string) => ({ value, unit: 'x', note });

/** Returns a webhook with as many transfers as fit into `bytes`, but at least one. */
function webhookOf(bytes: number): { body: string; logs: number } {
  const webhook: EvmWebhook = {
    ...TEST_WEBHOOK,
    chainId: '0x1',
    streamId: '6c86e9ed-0a93-4f8f-af4d-929ee8918bbb',
    tag: 'bench',
    abi: ABI as unknown as EvmWebhook['abi'],
    block: { number: '16225662', hash: `0x${'36'.repeat(32)}`, timestamp: '1671536351' },
    logs: [],
  };
  let { length } = JSON.stringify(webhook);
  for (let at = 0; length < bytes; at++) {
    const random = (what: string) => hash('sha256', `${what} ${at}`);
    const log = {
      logIndex: String(at),
      transactionHash: `0x${random('transaction')}`,
      address: '0x514910771af9ca656af840dff83e8264ecf986ca',
      data: `0x${random('value').slice(0, 18).padStart(64, '0')}`,
      topic0: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
      topic1: `0x${random('from').slice(0, 40).padStart(64, '0')}`,
      topic2: `0x${random('to').slice(0, 40).padStart(64, '0')}`,
      topic3: null,
    };
    length += JSON.stringify(log).length + 1;
    if (length > bytes && at > 0) break;
    webhook.logs.push(log);
  }
  return { body: JSON.stringify(webhook), logs: webhook.logs.length };
}

function decodeWithViem({ logs }: EvmWebhook): unknown {
  return logs.map(({ data, topic0, topic1, topic2 }) =>
    decodeEventLog({
      abi: ABI,
      data: data as Hex,
      topics: [topic0, topic1, topic2] as [Hex, ...Hex[]],
    }),
  );
}

/** Returns the microseconds per webhook for each side, as the median of alternating rounds. */
function measure<Side extends string>(
  parse: () => EvmWebhook,
  sides: Record<Side, (webhook: EvmWebhook) => unknown>,
): Record<Side, number> {
  const names = Object.keys(sides) as Side[];
  const rounds = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<
    Side,
    number[]
  >;
  // Round 0 is for warm-up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const name of names) {
      const microseconds = timeOf(parse, sides[name]);
      if (round > 0) rounds[name].push(microseconds);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(rounds[name])])) as Record<
    Side,
    number
  >;
}

let sink: unknown;

function timeOf(parse: () => EvmWebhook, run: (webhook: EvmWebhook) => unknown): number {
  let runs = 0;
  let spent = 0;
  while (spent < ROUND_MS) {
    // Measures ten webhooks at a time: the clock is too coarse for one, and more parsed webhooks
    // would trigger garbage collections.
    const webhooks = Array.from({ length: 10 }, parse);
    const started = performance.now();
    for (const webhook of webhooks) sink = run(webhook);
    spent += performance.now() - started;
    runs += webhooks.length;
  }
  if (sink === undefined) throw new Error('nothing was measured');
  return (spent * 1000) / runs;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function costOfHaving(): Figures {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-kit-'));
  try {
    const { tarball, unpackedSize } = packKit(folder);
    const [ours, theirs] = ['ours', 'theirs'].map((name) => join(folder, name)) as [string, string];
    mkdirSync(ours);
    mkdirSync(theirs);
    installInto(ours, 'module', [tarball]);
    installInto(theirs, 'module', ['moralis@2.27.2']);
    const imports = measureImports({ ours, theirs });
    const sizes = {
      ours: sizeOf(join(ours, 'node_modules')),
      theirs: sizeOf(join(theirs, 'node_modules')),
    };
    return {
      import_theirs: { value: imports.theirs, unit: 'ms', note: "import('moralis'), new process" },
      import_ours: { value: imports.ours, unit: 'ms', note: "import('@sluice/kit'), new process" },
      import_ratio: times(imports.theirs / imports.ours, 'theirs / ours'),
      install_theirs: { value: sizes.theirs / 1000, unit: 'kB', note: 'node_modules, all files' },
      install_ours: { value: sizes.ours / 1000, unit: 'kB', note: 'node_modules, all files' },
      install_ours_alone: { value: unpackedSize / 1000, unit: 'kB', note: 'without dependencies' },
      install_ratio: times(sizes.theirs / sizes.ours, 'theirs / ours'),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function measureImports(folders: { ours: string; theirs: string }): {
  ours: number;
  theirs: number;
} {
  const time = (cwd: string, name: string): number =>
    Number(
      execFileSync(
        process.execPath,
        [
          '--input-type=module',
          '--eval',
          `const started = performance.now(); await import('${name}'); console.log(performance.now() - started); process.exit(0)`,
        ],
        { cwd, encoding: 'utf8' },
      ),
    );
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let at = 0; at < IMPORTS; at++) {
    ours.push(time(folders.ours, '@sluice/kit'));
    theirs.push(time(folders.theirs, 'moralis'));
  }
  return { ours: median(ours), theirs: median(theirs) };
}

function sizeOf(path: string): number {
  const status = lstatSync(path);
  if (!status.isDirectory()) return status.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}
