/**
 * A proxy in front of the service. It generates responses where a benchmark needs more data than
 * the service has.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as ask, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DeliveryDetail, DeliverySummary, LiveEvent } from '@sluice/kit/sluice';

export const ROWS = 100_000;
export const POINTS = 1_440;
const BODY_BYTES = 5_000_000;
/** A string that occurs once, at the end of the body. */
export const LAST_WORD = 'the very end';
const TICK_MS = 20;

export interface Front {
  url: string;
  /** Sends new deliveries over the live feed until `stopAppending` is called. */
  append(perSecond: number): void;
  /** Sends events over the live feed until `stopAppending` is called. */
  mine(event: (sequence: number) => LiveEvent, perSecond: number): void;
  stopAppending(): void;
  stop(): Promise<void>;
}

export async function startFront(serviceUrl: string, streamId: string): Promise<Front> {
  const now = Date.now();
  const rows = Array.from({ length: ROWS }, (_, index) =>
    toRow(streamId, now - index * 800, index),
  );
  const json = { 'content-type': 'application/json' };
  const deliveries = JSON.stringify({ result: rows });
  const activity = JSON.stringify({ stepMinutes: 1, result: toPoints(now) });
  const body = Buffer.from(toBody());
  const feeds = new Set<ServerResponse>();
  const send = (text: string): void => {
    for (const feed of feeds) feed.write(text);
  };
  let timer: NodeJS.Timeout | undefined;
  let appended = 0;
  const mine: Front['mine'] = (event, perSecond) => {
    timer = setInterval(() => {
      for (let each = 0; each < (perSecond * TICK_MS) / 1_000; each++) {
        send(`data: ${JSON.stringify(event(appended++))}\nid: ${appended}\n\n`);
      }
    }, TICK_MS);
  };
  // Keeps the feed from falling silent, because the console treats a silent feed as disconnected.
  const beats = setInterval(() => send(':\n\n'), 1_000);
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', serviceUrl);
    if (pathname === '/sluice/deliveries') return response.writeHead(200, json).end(deliveries);
    if (pathname === '/sluice/activity') return response.writeHead(200, json).end(activity);
    if (/^\/sluice\/deliveries\/.+\/body$/.test(pathname)) {
      return response.writeHead(200, json).end(body);
    }
    if (pathname.startsWith('/sluice/deliveries/')) {
      const row = rows.find(({ id }) => pathname.endsWith(id)) ?? rows[0]!;
      const detail: DeliveryDetail = {
        ...row,
        unverified: [],
        witnesses: null,
        blockHash: `0x${'5'.repeat(64)}`,
        blockTime: row.createdAt - 1_500,
        committedAt: row.createdAt,
        confirmations: null,
        webhookUrl: 'https://example.com/hooks',
        bodyBytes: body.byteLength,
        attemptList: [],
        labels: {},
        pair: null,
        remainingWaitsMs: [],
      };
      return response.writeHead(200, json).end(JSON.stringify(detail));
    }
    if (pathname === '/sluice/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: 0\n\n');
      feeds.add(response);
      response.once('close', () => feeds.delete(response));
      return response;
    }
    const { method = 'GET', headers, url: path = '/' } = request;
    const passed = ask(new URL(path, serviceUrl), { method, headers }, (received) => {
      response.writeHead(received.statusCode ?? 502, received.headers);
      received.pipe(response);
    });
    passed.once('error', () => response.destroy());
    return request.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    append: (perSecond) =>
      mine(
        (sequence) => ({ type: 'delivery', delivery: toRow(streamId, Date.now(), sequence) }),
        perSecond,
      ),
    mine,
    stopAppending: () => clearInterval(timer),
    async stop() {
      clearInterval(timer);
      clearInterval(beats);
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Creates an id that sorts by creation time, because lists sort by id. */
const idAt = (createdAt: number, index: number): string => {
  const time = createdAt.toString(16).padStart(12, '0');
  const order = (index % 0x1000).toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${order}${randomUUID().slice(18)}`;
};

const toRow = (streamId: string, createdAt: number, index: number): DeliverySummary => ({
  id: idAt(createdAt, index),
  streamId,
  matchId: randomUUID(),
  tag: 'bench',
  chainId: '0x1',
  blockNumber: 23_835_256 - index,
  phase: index % 2 === 0 ? 'confirmed' : 'unconfirmed',
  state: 'succeeded',
  records: 1 + (index % 4),
  about: `Transfer ${index % 997}.5 USDC 0x28c6…1d60 → 0x5a52…efcb`,
  attempts: 1,
  status: 200,
  error: null,
  durationMs: 40 + (index % 90),
  createdAt,
  updatedAt: createdAt,
  nextAttemptAt: null,
});

const toPoints = (now: number) =>
  Array.from({ length: POINTS }, (_, index) => ({
    at: now - (POINTS - index) * 60_000,
    delivered: 40 + (index % 17),
    failed: 0,
    failedAttempts: index % 5,
    retries: index % 3,
    failures: { none: 0, '3xx': 0, '4xx': index % 2, '5xx': index % 3 },
    p50Ms: 60 + (index % 23),
    p95Ms: 180 + (index % 71),
  }));

function toBody(): string {
  const log = (index: number) => ({
    logIndex: String(index),
    transactionHash: `0x${index.toString(16).padStart(64, '0')}`,
    address: '0xdac17f958d2ee523a2206206994597c13d831ec7',
    data: `0x${(index * 1_000).toString(16).padStart(64, '0')}`,
    topic0: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    topic1: `0x${'1'.repeat(64)}`,
    topic2: `0x${'2'.repeat(64)}`,
    topic3: null,
  });
  const logs = Math.ceil(BODY_BYTES / JSON.stringify(log(1)).length);
  return JSON.stringify({
    block: { number: '23835231', hash: `0x${'5'.repeat(64)}`, timestamp: '1795269396' },
    logs: Array.from({ length: logs }, (_, index) => log(index)),
    streamId: LAST_WORD,
  });
}
