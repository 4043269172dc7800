/** The way here from the hosted service, against a scripted one built from the contract. */
import { existsSync, readFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type World, startWorld, until } from './world.test-only.ts';

const HOSTED_KEY = 'hosted-key';
const TOTAL = 64_001;
const PAGE = 100;
const addressOf = (at: number): string => `0x${(at + 1).toString(16).padStart(40, '0')}`;

/** As the hosted service answers a stream: with more than the contract has, and some of it left out. */
const streamOf = (id: string, tag: string, more: object = {}) => ({
  id,
  webhookUrl: 'https://receiver.example/hook',
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
  status: 'active',
  statusMessage: 'Stream is active',
  updatedAt: '2026-01-01T00:00:00.000Z',
  customerId: 'not of the contract',
  ...more,
});
const STREAMS = [
  streamOf('11111111-1111-4111-8111-111111111111', 'deposits'),
  streamOf('22222222-2222-4222-8222-222222222222', 'small', { status: 'paused' }),
];

let world: World;
let hosted: Server;
let url: string;
/** Address pages served since the last look; every 50th call at all is refused first. */
let pages = 0;
let calls = 0;
let refused = 0;

beforeAll(async () => {
  world = await startWorld();
  hosted = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://hosted');
    const answer = (status: number, body: object, headers = {}): void =>
      void response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    if (request.headers['x-api-key'] !== HOSTED_KEY)
      return answer(401, { message: 'Unauthorized' });
    if (++calls % 50 === 0) {
      refused++;
      return answer(429, { message: 'Too many requests' }, { 'retry-after': '0' });
    }
    if (pathname === '/streams/evm') return answer(200, { result: STREAMS, total: STREAMS.length });
    const list = /^\/streams\/evm\/([\w-]+)\/address$/.exec(pathname);
    if (list === null) return answer(404, { message: 'Not found' });
    pages++;
    const total = list[1] === STREAMS[0]!.id ? TOTAL : 3;
    const from = Number(searchParams.get('cursor') ?? 0);
    const to = Math.min(from + PAGE, total);
    const result = Array.from({ length: to - from }, (_, at) => ({
      address: addressOf(from + at),
    }));
    // The last page has no cursor and no page_size.
    answer(200, { result, total, ...(to < total && { cursor: String(to) }) });
  });
  await new Promise<void>((resolve) => hosted.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(hosted.address() as AddressInfo).port}`;
});
afterAll(async () => {
  hosted.closeAllConnections();
  hosted.close();
  await world.stop();
});

const flags = (): string[] => [
  'import',
  'moralis',
  '--hosted-url',
  url,
  '--hosted-key',
  HOSTED_KEY,
];
const journal = (): string => join(world.folder, 'sluice-import.json');

test('a dry run tells what would be made, and makes nothing', async () => {
  const { code, stdout } = await world.sluice([...flags(), '--dry-run']);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: '+ deposits  evm, active there\n+ small  evm, paused there\n',
  });
  expect(await world.client.listStreamSummaries()).toEqual([]);
  expect(await world.sluice([...flags().slice(0, -1), 'wrong'])).toMatchObject({ code: 3 });
  expect(await world.sluice(['import', 'moralis'])).toMatchObject({ code: 2 });
});

test(`${TOTAL} addresses arrive whole, also when it is ended half-way; run again, nothing is doubled`, async () => {
  const first = world.start(flags());
  await until(
    'a part is noted',
    () => existsSync(journal()) && readFileSync(journal(), 'utf8').includes('cursor'),
  );
  first.interrupt();
  expect(await first.ended).toMatchObject({ code: 130 });
  const noted = JSON.parse(readFileSync(journal(), 'utf8')) as {
    streams: Record<string, { addresses: number; done: boolean }>;
  };
  const { addresses, done } = noted.streams[STREAMS[0]!.id]!;
  expect(done).toBe(false);
  expect(addresses % 5_000).toBe(0);

  pages = 0;
  const second = await world.sluice(flags());
  expect(second).toMatchObject({ code: 0 });
  expect(second.stdout).toBe(
    '✓ deposits  is here  64,001 addresses\n✓ small  is here  3 addresses\n',
  );
  expect(second.stderr).toContain('64,001 of 64,001');
  // What was noted was not read again.
  expect(pages).toBe(Math.ceil((TOTAL - addresses) / PAGE) + 1);
  expect(refused).toBeGreaterThan(5);

  const streams = await world.client.listStreamSummaries();
  expect(
    streams.map(({ tag, amountOfAddresses, status }) => [tag, amountOfAddresses, status]),
  ).toEqual([
    ['small', 3, 'paused'],
    ['deposits', TOTAL, 'paused'],
  ]);
  const there = await world.api.streams.get(streams[1]!.id);
  expect(there).toMatchObject({ includeNativeTxs: true, topic0: STREAMS[0]!.topic0 });

  pages = 0;
  const third = await world.sluice([...flags(), '--json']);
  expect(
    third.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object),
  ).toMatchObject([
    { from: STREAMS[0]!.id, to: streams[1]!.id, addresses: TOTAL },
    { from: STREAMS[1]!.id, to: streams[0]!.id, addresses: 3 },
  ]);
  expect(pages).toBe(0);
  expect(await world.client.listStreamSummaries()).toHaveLength(2);
}, 60_000);

test('without its journal it finds the streams it made, and makes none twice', async () => {
  const other = join(world.folder, 'other.json');
  expect(await world.sluice([...flags(), '--journal', other])).toMatchObject({ code: 0 });
  expect(await world.client.listStreamSummaries()).toHaveLength(2);
});
