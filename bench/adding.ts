/**
 * Measures how many addresses per second clients can add to one stream with one call for each
 * address, and how much this delays the webhooks of another stream. The service is a separate
 * process with production durability; its clients run in their own thread.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createClient } from '@sluice/kit';
import {
  type RunningScriptedChain,
  type WebhookSink,
  scripted,
  startScriptedChain,
  startWebhookSink,
} from '@sluice/testkit';
import { API_KEY, serve } from '../test/serve.ts';
import { type EngineName, withPostgres } from './delivery/ledgers.ts';
import { type Figures, toFigure } from './figures.ts';

const CHAIN = '0x7a69';
const WATCHED = '0x00000000000000000000000000000000000000aa';
const SENDER = '0x00000000000000000000000000000000000000cc';
const CLIENTS = [0, 1, 8, 64];
const SECONDS = 20;
const DRAIN_MS = 60_000;

/** @param parts engines, numbers of clients, or both. Default: all */
export async function measureAdding(parts: readonly string[]): Promise<Figures> {
  const engines = (['sqlite', 'postgres'] satisfies EngineName[]).filter(
    (engine) => parts.includes(engine) || !parts.some((part) => Number.isNaN(Number(part))),
  );
  const clients = CLIENTS.filter(
    (count) => parts.includes(String(count)) || parts.every((part) => Number.isNaN(Number(part))),
  );
  const figures: Figures = {};
  for (const engine of engines) Object.assign(figures, await measureOn(engine, clients));
  return figures;
}

async function measureOn(engine: EngineName, clients: readonly number[]): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  try {
    const data = ['--data', folder, '--min-free-mib', '0', '--rate-limit', '0'];
    if (engine === 'sqlite') return await measureWith(engine, clients, data);
    return await withPostgres(({ url }) =>
      measureWith(engine, clients, [...data, '--database-url', url]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measureWith(
  engine: EngineName,
  clients: readonly number[],
  args: readonly string[],
): Promise<Figures> {
  const chain = await startScriptedChain();
  const sink = await startWebhookSink();
  const service = await serve([...args, '--chain', `${CHAIN}=${chain.wsUrl}`]);
  try {
    const { streams } = createClient({ baseUrl: service.url, apiKey: API_KEY });
    const stream = {
      webhookUrl: sink.url,
      description: '',
      tag: 'bench',
      chainIds: [CHAIN],
      includeNativeTxs: true,
    };
    const watching = await streams.create(stream);
    await streams.addAddress(watching.id, WATCHED);
    const growing = await streams.create({ ...stream, webhookUrl: 'sluice://inbox/bench' });
    const path = `/streams/evm/${growing.id}/address`;

    await (await makeBlocks({ chain, sink, seconds: 3 })).drain();
    const figures: Figures = {};
    let added = 0;
    for (const count of clients) {
      const adding = count === 0 ? undefined : startAdding(service.url, path, count);
      const blocks = await makeBlocks({ chain, sink, seconds: SECONDS });
      const answered = (await adding?.stop()) ?? 0;
      const { latencies, behind } = await blocks.drain();
      const name = `${engine}, ${count} clients`;
      if (adding !== undefined) {
        added += answered;
        figures[`${name}: additions`] = toFigure(answered / SECONDS, '/s', 'answered with 200');
      }
      const at = (share: number): number =>
        latencies[Math.min(latencies.length - 1, Math.floor(share * latencies.length))]!;
      figures[`${name}: p50`] = toFigure(at(0.5), 'ms', 'from block to webhook');
      figures[`${name}: p95`] = toFigure(at(0.95), 'ms', 'the same');
      figures[`${name}: max`] = toFigure(latencies.at(-1)!, 'ms', 'the same');
      figures[`${name}: behind`] = toFigure(
        behind,
        'blocks',
        'most blocks waiting for their webhook',
      );
    }
    const { amountOfAddresses } = await streams.get(growing.id);
    if (amountOfAddresses !== added) {
      throw new Error(
        `${added} additions succeeded, but the stream has ${amountOfAddresses} addresses`,
      );
    }
    return figures;
  } finally {
    await service.stop();
    await chain.stop();
    await sink.close();
  }
}

interface MadeBlocks {
  /**
   * Waits up to 60 seconds until the webhook of each block has arrived. Returns the delays in
   * milliseconds, sorted, and the maximum number of blocks that waited for their webhook at once.
   */
  drain(): Promise<{ latencies: number[]; behind: number }>;
}

/** Mines a block with a watched transfer each second for the given time. */
async function makeBlocks({
  chain,
  sink,
  seconds,
}: {
  chain: RunningScriptedChain;
  sink: WebhookSink;
  seconds: number;
}): Promise<MadeBlocks> {
  const waiting = new Map<string, number>();
  const latencies: number[] = [];
  let behind = 0;
  let read = sink.requests.length;
  const collect = (): void => {
    for (; read < sink.requests.length; read++) {
      const { body, receivedAt } = sink.requests[read]!;
      const { confirmed, block } = JSON.parse(body) as {
        confirmed: boolean;
        block: { number: string };
      };
      const minedAt = waiting.get(block.number);
      if (confirmed || minedAt === undefined) continue;
      latencies.push(receivedAt - minedAt);
      waiting.delete(block.number);
    }
  };
  const started = Date.now();
  for (let n = 0; n < seconds; n++) {
    await wait(Math.max(0, started + n * 1_000 - Date.now()));
    collect();
    const transfer = scripted.transfer({ from: SENDER, to: WATCHED, value: BigInt(n + 1) });
    const minedAt = Date.now();
    waiting.set(String(chain.mine({ transactions: [transfer] }).number), minedAt);
    behind = Math.max(behind, waiting.size);
  }
  await wait(Math.max(0, started + seconds * 1_000 - Date.now()));
  return {
    async drain() {
      for (const deadline = Date.now() + DRAIN_MS; waiting.size > 0; await wait(20)) {
        collect();
        if (Date.now() > deadline) throw new Error(`${waiting.size} blocks have no webhook`);
      }
      return { latencies: latencies.toSorted((a, b) => a - b), behind };
    },
  };
}

/**
 * Code of the clients' thread. To save processor time on the shared machine, it implements only the
 * HTTP that it needs.
 */
const THREAD = `
  const { connect } = require('node:net');
  const { parentPort, workerData } = require('node:worker_threads');
  const { port, host, path, apiKey, clients, seed } = workerData;
  let answered = 0, added = 0, open = clients, stopping = false;
  for (let client = 0; client < clients; client++) {
    const socket = connect(port, host);
    socket.setNoDelay(true);
    let text = '';
    const add = () => {
      if (stopping) {
        socket.end();
        if (--open === 0) parentPort.postMessage(answered);
        return;
      }
      const address = '0x' + seed + (added++).toString(16).padStart(24, '0');
      const body = JSON.stringify({ address });
      socket.write('POST ' + path + ' HTTP/1.1\\r\\nhost: ' + host + '\\r\\nx-api-key: ' + apiKey +
        '\\r\\ncontent-type: application/json\\r\\ncontent-length: ' + body.length + '\\r\\n\\r\\n' + body);
    };
    socket.on('connect', add);
    socket.on('data', (chunk) => {
      text += chunk.latin1Slice();
      const end = text.indexOf('\\r\\n\\r\\n');
      if (end < 0) return;
      const length = Number(/content-length: (\\d+)/i.exec(text)?.[1]);
      if (text.length < end + 4 + length) return;
      if (!text.startsWith('HTTP/1.1 200')) throw new Error(text);
      answered++;
      text = '';
      add();
    });
  }
  parentPort.on('message', () => { stopping = true; });
`;

/** @returns a function that stops the clients and returns the number of successful additions */
function startAdding(url: string, path: string, clients: number): { stop(): Promise<number> } {
  const { hostname: host, port } = new URL(url);
  const seed = randomBytes(8).toString('hex');
  const worker = new Worker(THREAD, {
    eval: true,
    workerData: { host, port: Number(port), path, apiKey: API_KEY, clients, seed },
  });
  const ended = new Promise<number>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  return {
    async stop() {
      worker.postMessage('stop');
      const answered = await ended;
      await worker.terminate();
      return answered;
    },
  };
}
