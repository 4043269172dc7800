/**
 * Tests the entire service with blocks and streams that strain the matcher: 50,000 logs in a block,
 * logs that contradict their topic, 100,000 addresses, and filters of 10,000 values (faults 23 and
 * 24 in docs/faults.md).
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient, decodeLogs } from '@sluice/kit';
import {
  type CreateEvmStream,
  DEFAULT_MAX_WEBHOOK_BYTES,
  type EvmWebhook,
} from '@sluice/kit/contract';
import {
  type Anvil,
  type RecordedRequest,
  type WebhookSink,
  crier,
  sluiceToken,
  startAnvil,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { type Address, type Hex, encodeAbiParameters, keccak256, pad, toHex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';
import {
  type Contracts,
  call,
  deployEveryKind,
  friend,
  mine,
  owner,
  stranger,
} from './everyKind.ts';

const CHAIN = '0x7a69';
const TRANSFER = 'Transfer(address,address,uint256)';
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const CONFIRMATIONS = 2;
const SLOW_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'sluice-hard-'));
let anvil: Anvil;
let sink: WebhookSink;
let service: Served;
let kit: Client;
let contracts: Contracts;

beforeAll(async () => {
  [anvil, sink] = await Promise.all([startAnvil(), startWebhookSink()]);
  contracts = await deployEveryKind(anvil);
  service = await serve([
    ...['--data', join(folder, 'data'), '--no-test-webhook'],
    ...['--chain', `${CHAIN}=${anvil.url},confirmations=${CONFIRMATIONS},poll=50`],
  ]);
  kit = createClient({ apiKey: API_KEY, baseUrl: service.url });
});

afterAll(async () => {
  await service.stop();
  await Promise.all([anvil.stop(), sink.close()]);
  rmSync(folder, { recursive: true });
});

/** Prints a measurement, which depends on the machine. */
const say = (figure: string): void => void process.stderr.write(`${figure}\n`);

let paths = 0;
/** Creates a stream with its own path on the receiver, and returns the path. */
async function watch(options: Partial<CreateEvmStream>, addresses: string[] = []): Promise<string> {
  const path = `/${paths++}`;
  const { id } = await kit.streams.create({
    webhookUrl: sink.url + path,
    description: 'hard',
    tag: 'hard',
    chainIds: [CHAIN],
    includeContractLogs: true,
    ...options,
  });
  if (addresses.length > 0) await kit.streams.addAddress(id, addresses);
  return path;
}

const webhooksOn = (path: string): { webhook: EvmWebhook; request: RecordedRequest }[] =>
  sink.requests
    .filter((request) => request.path === path)
    .map((request) => ({ request, webhook: JSON.parse(request.body) as EvmWebhook }));

const sendToken = (to: Address, value: bigint) =>
  call(contracts.erc20, sluiceToken.abi, 'transfer', [to, value]);

describe('a block of 50,000 logs', () => {
  const TRANSACTIONS = 25;
  const LOGS_EACH = 2_000;
  let whole: string;
  let small: string;
  let block: number;

  let unconfirmed: Part[];
  let confirmed: Part[];

  interface Part {
    request: RecordedRequest;
    webhook: EvmWebhook;
  }

  /**
   * Returns the parts of the large webhook in one phase, in order; undefined until all have
   * arrived.
   */
  function findParts(phase: 'confirmed' | 'unconfirmed'): RecordedRequest[] | undefined {
    const found = sink.requests
      .filter(({ path, body }) => {
        return path === whole && body.startsWith(`{"confirmed":${phase === 'confirmed'}`);
      })
      .map((request) => ({ request, place: placeOf(request) }))
      .toSorted((a, b) => a.place.number - b.place.number);
    return found.length > 0 && found.length === found[0]!.place.of
      ? found.map(({ request }) => request)
      : undefined;
  }
  function placeOf({ headers }: RecordedRequest): { number: number; of: number } {
    const [, number, of] = /^(\d+)\/(\d+)$/.exec(String(headers['x-sluice-part']))!;
    return { number: Number(number), of: Number(of) };
  }

  beforeAll(async () => {
    whole = await watch(
      { includeNativeTxs: true, allAddresses: true, topic0: [TRANSFER_TOPIC] },
      [],
    );
    small = await watch({}, [contracts.erc20]);
    await anvil.request('evm_setBlockGasLimit', ['0x3b9aca00']);
    const cry = call(contracts.crier, crier.abi, 'cryTransfers', [friend, BigInt(LOGS_EACH)]);
    block = await mine(anvil, [
      ...Array.from({ length: TRANSACTIONS - 1 }, () => ({ ...cry, gas: '0x7a1200' })),
      sendToken(stranger, 5n),
      { ...cry, gas: '0x7a1200' },
    ]);
    for (let n = 0; n < CONFIRMATIONS; n++) await mine(anvil, []);
    const parse = (request: RecordedRequest): Part => ({
      request,
      webhook: JSON.parse(request.body) as EvmWebhook,
    });
    const wait = (phase: 'confirmed' | 'unconfirmed') =>
      until(`all ${phase} parts`, () => findParts(phase)?.map(parse), SLOW_MS);
    unconfirmed = await wait('unconfirmed');
    confirmed = await wait('confirmed');
  }, SLOW_MS);

  test('is split without loss into parts within the size limit', async () => {
    const parts = unconfirmed;
    expect(parts.length).toBeGreaterThan(3);
    expect(parts.map(({ request }) => placeOf(request).number)).toEqual(parts.map((_, n) => n + 1));
    expect(new Set(parts.map(({ request }) => request.id)).size).toBe(parts.length);
    expect(
      Math.max(...parts.map(({ request }) => Buffer.byteLength(request.body))),
    ).toBeLessThanOrEqual(DEFAULT_MAX_WEBHOOK_BYTES);
    const receipts = await anvil.request<{ logs: { logIndex: Hex; transactionHash: Hex }[] }[]>(
      'eth_getBlockReceipts',
      [`0x${block.toString(16)}`],
    );
    const mined = receipts.flatMap(({ logs }) => logs);
    expect(mined).toHaveLength(TRANSACTIONS * LOGS_EACH + 1);
    const got = parts.flatMap(({ webhook }) => webhook.logs);
    // Does not use toEqual, because its message would list 50,000 differences.
    expect(
      JSON.stringify(
        got.map(({ logIndex, transactionHash }) => [Number(logIndex), transactionHash]),
      ) === JSON.stringify(mined.map((log) => [Number(log.logIndex), log.transactionHash])),
      'every log once and in order',
    ).toBe(true);
    expect(parts.flatMap(({ webhook }) => webhook.erc20Transfers)).toHaveLength(mined.length);
    expect(parts.flatMap(({ webhook }) => webhook.txs)).toHaveLength(TRANSACTIONS + 1);
  });

  test('splits no transaction', () => {
    const seen = new Set<string>();
    for (const { webhook } of unconfirmed) {
      const hashes = new Set([
        ...webhook.logs.map(({ transactionHash }) => transactionHash),
        ...webhook.erc20Transfers.map(({ transactionHash }) => transactionHash),
        ...webhook.txs.map(({ hash }) => hash),
      ]);
      for (const hash of hashes) {
        expect(seen.has(hash), `${hash} is in two parts`).toBe(false);
        seen.add(hash);
      }
    }
    expect(seen.size).toBe(TRANSACTIONS + 1);
  });

  test('has the same parts when confirmed', () => {
    const bodiesOf = (parts: readonly Part[]): string[] =>
      parts.map(({ request }) => request.body.replace(/^\{"confirmed":(true|false),/, '{'));
    expect(JSON.stringify(bodiesOf(confirmed)) === JSON.stringify(bodiesOf(unconfirmed))).toBe(
      true,
    );
  });

  test('does not affect the webhook of another stream', () => {
    const others = webhooksOn(small);
    expect(others.map(({ webhook }) => [webhook.block.number, webhook.confirmed])).toEqual([
      [`${block}`, false],
      [`${block}`, true],
    ]);
    for (const { webhook, request } of others) {
      expect(webhook.logs).toHaveLength(1);
      expect(request.headers['x-sluice-part']).toBeUndefined();
    }
    const { request } = others[0]!;
    const last = Math.max(...unconfirmed.map((part) => part.request.receivedAt));
    say(`the small webhook arrived ${last - request.receivedAt} ms before the last part`);
  });

  test('takes bounded memory', (context) => {
    if (process.platform !== 'linux') return context.skip();
    const status = readFileSync(`/proc/${service.pid}/status`, 'utf8');
    const peakMib = Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / 1024;
    const bytes = unconfirmed.reduce((sum, { request }) => sum + request.body.length, 0);
    say(`peak ${Math.round(peakMib)} MiB for a webhook of ${Math.round(bytes / 2 ** 20)} MiB`);
    expect(peakMib).toBeLessThan(2048);
  });
});

test('logs that contradict their topic stay undecoded, with a reason', async () => {
  const said = {
    type: 'event',
    name: 'Said',
    inputs: [{ name: 'words', type: 'string', indexed: false }],
  };
  const transfer = crier.abi.find((item) => item.type === 'event');
  const path = await watch(
    { abi: [transfer, said] as unknown as NonNullable<CreateEvmStream['abi']> },
    [contracts.crier],
  );
  const parties: Hex[] = [pad(owner), pad(friend)];
  const word = pad('0x05');
  const cried: [Hex[], Hex][] = [
    [[TRANSFER_TOPIC, ...parties], word],
    [[TRANSFER_TOPIC, ...parties], '0x1234'],
    [[TRANSFER_TOPIC, ...parties], '0x'],
    [[TRANSFER_TOPIC, ...parties, word], '0x'],
    [[TRANSFER_TOPIC], word],
    [[], word],
    [[keccak256(toHex('Said(string)'))], encodeAbiParameters([{ type: 'bytes' }], ['0xc328'])],
    [[keccak256(toHex('Said(string)'))], pad('0xffffffff')],
  ];
  const block = await mine(anvil, [
    call(contracts.crier, crier.abi, 'cryAll', [
      cried.map(([topics]) => topics),
      cried.map(([, data]) => data),
    ]),
  ]);
  await sink.waitFor(
    (request) => request.path === path && request.body.includes(`"number":"${block}"`),
  );
  const { webhook } = webhooksOn(path)[0]!;
  const { decoded, undecoded } = decodeLogs(webhook);
  expect(webhook.logs.map(({ topic0, data }) => [topic0, data])).toEqual(
    cried.map(([[topic = null], data]) => [topic, data]),
  );
  expect(decoded.map(({ name, args }) => [name, args])).toEqual([
    ['Transfer', { from: owner, to: friend, value: 5n }],
    ['Said', { words: '\u{fffd}(' }],
  ]);
  expect(undecoded.map(({ log, reason }) => [Number(log.logIndex), reason])).toEqual([
    [1, 'malformed'],
    [2, 'malformed'],
    [3, 'indexed-mismatch'],
    [4, 'indexed-mismatch'],
    [5, 'unknown-event'],
    [7, 'malformed'],
  ]);
  expect(webhook.erc20Transfers.map(({ value }) => value)).toEqual(['5']);
  expect(webhook.nftTransfers.map(({ tokenId }) => tokenId)).toEqual(['5']);
});

/** Returns the address of the n-th unused account. */
const nobody = (n: number): Address => pad(toHex(0xabc0_0000 + n), { size: 20 });

test('streams with 100,000 addresses or 10,000 filter values match only theirs', async () => {
  const many = await watch({}, [...Array.from({ length: 99_999 }, (_, n) => nobody(n)), friend]);
  const filtered = (operator: 'in' | 'nin') =>
    watch({
      allAddresses: true,
      abi: [crier.abi[0]],
      advancedOptions: [
        {
          topic0: TRANSFER,
          filter: {
            [operator]: ['to', [...Array.from({ length: 9_999 }, (_, n) => nobody(n)), friend]],
          },
        },
      ],
    });
  const named = await filtered('in');
  const unnamed = await filtered('nin');
  const block = await mine(anvil, [sendToken(friend, 1n), sendToken(stranger, 2n)]);
  for (const [path, value] of [
    [many, '1'],
    [named, '1'],
    [unnamed, '2'],
  ] as const) {
    const { body } = await sink.waitFor((request) => request.path === path);
    const { block: of, erc20Transfers } = JSON.parse(body) as EvmWebhook;
    expect([of.number, erc20Transfers.map((each) => each.value)]).toEqual([`${block}`, [value]]);
  }
});
