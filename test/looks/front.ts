/**
 * A proxy between the browser and the service. In JSON responses, it replaces values that differ on
 * every run, such as ports and measured times.
 */
import { once } from 'node:events';
import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FrontProxy {
  url: string;
  /**
   * Returns the milliseconds since the last response ended, or 0 while any request waits for its
   * response. An open live feed does not count.
   */
  quietMs(): number;
  stop(): Promise<void>;
}

const ANOTHER_EACH_TIME: [RegExp, string][] = [
  [/127\.0\.0\.1:\d+/g, '127.0.0.1:8545'],
  [/"latencyMs":[\d.]+/g, '"latencyMs":12'],
  [/"headAgeMs":\d+/g, '"headAgeMs":2000'],
  [/"score":\{"total"[^}]*\}/g, '"score":{"total":12,"latency":12,"lag":0,"failures":0,"doubt":0}'],
];

/** Responses that depend on how long the service has been running. */
const FIXED: Readonly<Record<string, unknown>> = {
  '/sluice/incidents': {
    result: [
      {
        id: '019aab00-0000-7000-8000-000000000002',
        kind: 'receiver',
        cause: '500 from 127.0.0.1:8545',
        reason: 'HTTP 500',
        receiver: '127.0.0.1:8545',
        chainId: null,
        affected: [],
        affectedCount: 2,
        deliveryId: null,
        startedAt: Date.UTC(2026, 10, 22, 9, 56),
        endedAt: null,
      },
      {
        id: '019aab00-0000-7000-8000-000000000001',
        kind: 'chain',
        cause: 'Base is down',
        reason: 'no node responds',
        receiver: null,
        chainId: '0x2105',
        affected: [],
        affectedCount: 0,
        deliveryId: null,
        startedAt: Date.UTC(2026, 10, 22, 3, 12),
        endedAt: Date.UTC(2026, 10, 22, 3, 31),
      },
    ],
  },
};

/** @param serviceUrl base URL to which all requests are forwarded, regardless of their host. */
export async function startFront(serviceUrl: string): Promise<FrontProxy> {
  let underWay = 0;
  let since = Date.now();
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', serviceUrl);
    const fixed = FIXED[pathname];
    if (fixed !== undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(fixed));
      return;
    }
    const isFeed = pathname === '/sluice/events';
    if (!isFeed) underWay++;
    response.once('close', () => {
      if (!isFeed) underWay--;
      since = Date.now();
    });
    const { method = 'GET', headers } = request;
    const passed = ask(
      new URL(pathname + search, serviceUrl),
      { method, headers: { ...headers, 'accept-encoding': 'identity' } },
      (received) => {
        const isJson = received.headers['content-type']?.startsWith('application/json') ?? false;
        if (!isJson) {
          response.writeHead(received.statusCode ?? 502, received.headers);
          received.pipe(response);
          return;
        }
        const chunks: Buffer[] = [];
        received.on('data', (chunk: Buffer) => chunks.push(chunk));
        received.once('end', () => {
          const text = ANOTHER_EACH_TIME.reduce(
            (now, [what, same]) => now.replace(what, same),
            Buffer.concat(chunks).toString(),
          );
          const { 'content-length': _, ...kept } = received.headers;
          response.writeHead(received.statusCode ?? 502, kept).end(text);
        });
      },
    );
    passed.once('error', () => response.destroy());
    response.once('close', () => passed.destroy());
    request.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    quietMs: () => (underWay > 0 ? 0 : Date.now() - since),
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
