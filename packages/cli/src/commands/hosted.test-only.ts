/** A scripted hosted Streams API: two streams, paged addresses and 429 responses. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export const HOSTED_KEY = 'hosted-key';
const PAGE = 100;

export interface Hosted {
  readonly url: string;
  readonly streams: readonly HostedStream[];
  /** Returns the number of pages of addresses served so far. */
  pages(): number;
  /** Returns the number of calls rejected with 429. Every 50th call is rejected. */
  refused(): number;
  stop(): void;
}

type HostedStream = ReturnType<typeof streamOf>;

/**
 * A stream as the hosted service returns it: with extra fields, and without some fields of the
 * contract.
 */
const streamOf = (id: string, tag: string, status: string, webhookUrl: string) => ({
  id,
  webhookUrl,
  description: `${tag} of the hosted service`,
  tag,
  chainIds: ['0x7a69'],
  topic0: ['Transfer(address,address,uint256)'],
  allAddresses: false,
  includeNativeTxs: true,
  includeContractLogs: true,
  includeInternalTxs: false,
  abi: null,
  advancedOptions: null,
  status,
  statusMessage: 'Stream is active',
  updatedAt: '2026-01-01T00:00:00.000Z',
  customerId: 'not of the contract',
});

/**
 * @param addresses number of addresses in the stream `deposits`; the paused stream `small` has
 * three.
 */
export async function startHosted({
  addresses,
  webhookUrl = 'https://receiver.example/hook',
}: {
  addresses: number;
  webhookUrl?: string;
}): Promise<Hosted> {
  const streams = [
    streamOf('11111111-1111-4111-8111-111111111111', 'deposits', 'active', webhookUrl),
    streamOf('22222222-2222-4222-8222-222222222222', 'small', 'paused', webhookUrl),
  ];
  let pages = 0;
  let calls = 0;
  let refused = 0;
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://hosted');
    const respond = (status: number, body: object, headers = {}): void =>
      void response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    if (request.headers['x-api-key'] !== HOSTED_KEY)
      return respond(401, { message: 'Unauthorized' });
    if (++calls % 50 === 0) {
      refused++;
      return respond(429, { message: 'Too many requests' }, { 'retry-after': '0' });
    }
    if (pathname === '/streams/evm')
      return respond(200, { result: streams, total: streams.length });
    const list = /^\/streams\/evm\/([\w-]+)\/address$/.exec(pathname);
    if (list === null) return respond(404, { message: 'Not found' });
    pages++;
    const total = list[1] === streams[0]!.id ? addresses : 3;
    const from = Number(searchParams.get('cursor') ?? 0);
    const to = Math.min(from + PAGE, total);
    const result = Array.from({ length: to - from }, (_, at) => ({
      address: `0x${(from + at + 1).toString(16).padStart(40, '0')}`,
    }));
    // No page has a `page_size`, and the last one has no `cursor`.
    respond(200, { result, total, ...(to < total && { cursor: String(to) }) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    streams,
    pages: () => pages,
    refused: () => refused,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
