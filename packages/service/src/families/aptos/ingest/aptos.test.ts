/**
 * Tests Aptos ingestion in the complete service against scripted fullnodes and transaction streams.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@sluice/kit';
import type { AptosWebhook, ChainHealth } from '@sluice/kit/contract';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import {
  type AptosStreamTrouble,
  type AptosTrouble,
  type RunningScriptedAptos,
  type RunningScriptedAptosStream,
  type ScriptedAptosTransaction,
  type WebhookSink,
  aptosEffects,
  scriptedAptos,
  startScriptedAptos,
  startScriptedAptosStream,
  startWebhookSink,
} from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLog } from '../../../base/log.ts';
import { type Service, startService } from '../../../service.ts';

const API_KEY = 'test-key-0123456789abcdef';
const CHAIN = 'aptos:local';
const account = (n: number): `0x${string}` => `0x${n.toString(16).padStart(64, '0')}`;
const ALICE = account(0xa11ce);
const BOB = account(0xb0b);
const CAROL = account(0xca401);

let folder: string;
let node: RunningScriptedAptos;
let others: RunningScriptedAptos[];
let sink: WebhookSink;
let service: Service | undefined;
let client: Client;
let sluice: SluiceClient;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-aptos-'));
  node = await startScriptedAptos();
  node.mineMany(3);
  others = [];
  sink = await startWebhookSink();
});
afterEach(async () => {
  await service?.stop();
  service = undefined;
  await sink.close();
  await Promise.all([node, ...others].map((each) => each.stop()));
  rmSync(folder, { recursive: true });
});

async function start(
  urls = [node.url],
  streams: string[] = [],
  resetWhenReplaced = false,
): Promise<void> {
  service = await startService(
    {
      port: 0,
      host: '127.0.0.1',
      data: folder,
      apiKey: API_KEY,
      chains: [],
      aptos: [{ network: 'local', urls, streams, pollMs: 20, resetWhenReplaced }],
      allowPrivateEndpoints: true,
      testWebhook: false,
    },
    createLog(() => {}),
  );
  client = createClient({ apiKey: API_KEY, baseUrl: service.url });
  sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: service.url });
}

async function stop(): Promise<void> {
  await service?.stop();
  service = undefined;
}

async function until<T>(what: string, read: () => Promise<T | false> | T | false): Promise<T> {
  const deadline = Date.now() + 15_000;
  for (;;) {
    const value = await read();
    if (value !== false) return value;
    if (Date.now() > deadline) {
      throw new Error(`${what}: timed out; ${JSON.stringify(await health())}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const health = async (): Promise<Omit<ChainHealth, 'blocks'>> => {
  const { blocks: _, ...rest } = (await sluice.listChains())[0]!;
  return rest;
};
const isLive = () => until('the chain is live', async () => (await health()).state === 'live');
const caughtUp = () =>
  until(
    'the service caught up',
    async () => (await health()).checkpoint === Number(node.head.height),
  );

/** Creates a stream that watches Bob's account, starting with the next block. */
async function watchBob(): Promise<string> {
  await until('the chain is connected', async () => (await health()).checkpoint !== null);
  const { id } = await client.streams.create({
    networkType: 'aptos',
    webhookUrl: `${sink.url}/hook`,
    description: '',
    tag: 'bob',
    network: ['local'],
  });
  await client.streams.addAddress(id, BOB, { networkType: 'aptos' });
  return id;
}

const toBob = (amount: bigint): ScriptedAptosTransaction =>
  scriptedAptos.transfer({ from: ALICE, to: BOB, amount });
const toCarol = (amount: bigint): ScriptedAptosTransaction =>
  scriptedAptos.transfer({ from: ALICE, to: CAROL, amount });

const bodies = (): AptosWebhook[] =>
  sink.requests.map(({ body }) => JSON.parse(body) as AptosWebhook);

/**
 * Expects deposits of exactly these amounts to Bob, each in one confirmed delivery, which may have
 * had several attempts.
 */
async function expectAmounts(amounts: readonly bigint[]): Promise<void> {
  const wanted = amounts.map(String).toSorted();
  await until('every amount is delivered', () => {
    const seen = new Set(bodies().flatMap((body) => body.coinDeposits.map(({ value }) => value)));
    return wanted.every((amount) => seen.has(amount));
  });
  const deliveries = await sluice.listDeliveries({ limit: 100 });
  expect(deliveries.result.every(({ phase }) => phase === 'confirmed')).toBe(true);
  const ids = new Map(sink.requests.map(({ id, body }) => [id, JSON.parse(body) as AptosWebhook]));
  const values = [...ids.values()].flatMap((body) =>
    body.coinDeposits.filter(({ address }) => address === BOB).map(({ value }) => value),
  );
  expect(values.toSorted()).toEqual(wanted);
}

describe('ingestion', () => {
  test('reads all blocks mined while it was down, over pages that end early', async () => {
    await start();
    await watchBob();
    await isLive();
    await stop();
    const amounts: bigint[] = [];
    for (let n = 1; n <= 60; n++) {
      const amount = BigInt(1_000 + n);
      if (n % 3 === 0) amounts.push(amount);
      node.mine({ transactions: [n % 3 === 0 ? toBob(amount) : toCarol(amount)] });
    }
    node.trouble({ kind: 'truncatedPage', limit: 7, every: 2 });
    await start();
    await caughtUp();
    await expectAmounts(amounts);
  });

  test('reads a block that ends like those of earlier years', async () => {
    await start();
    await watchBob();
    await isLive();
    node.mine({ transactions: [toBob(5n)], end: 'state_checkpoint' });
    await expectAmounts([5n]);
  });

  test('returns the version after the last one read as effectiveFrom', async () => {
    await start();
    const id = await watchBob();
    await caughtUp();
    const added = await client.streams.addAddress(id, CAROL, { networkType: 'aptos' });
    expect(added.effectiveFrom).toEqual({ local: Number(node.head.lastVersion) + 1 });
  });
});

describe('a network without streams', () => {
  test('is followed by its heads alone, and read once an address is watched', async () => {
    await start();
    await isLive();
    const before = node.calls.transactions ?? 0;
    for (let n = 1; n <= 40; n++) node.mine({ transactions: [toBob(BigInt(n))] });
    // The newest block may still be incomplete, so it is not passed over yet.
    const passed = Number(node.head.height) - 1;
    await until('the blocks are passed over', async () => (await health()).checkpoint === passed);

    // Without addresses, the stream matches nothing, so blocks are still passed over.
    const { id } = await client.streams.create({
      networkType: 'aptos',
      webhookUrl: `${sink.url}/hook`,
      description: '',
      tag: 'bob',
      network: ['local'],
    });
    node.mineMany(2);
    await until(
      'the blocks are passed over',
      async () => (await health()).checkpoint === passed + 2,
    );
    // The passed-over blocks are a single gap, although they were passed over in several steps.
    const gap = { chainId: 'aptos:local', kind: 'passed-over', to: passed + 2 };
    expect(await sluice.listGaps({ chain: 'aptos:local' })).toMatchObject([gap]);
    const { head, safe, finalized } = await health();
    expect([safe, finalized]).toEqual([head, head]);
    expect(node.calls.transactions ?? 0).toBe(before);

    const added = await client.streams.addAddress(id, BOB, { networkType: 'aptos' });
    const whole = node.blockAt(BigInt(passed + 2))!;
    expect(added.effectiveFrom).toEqual({ local: Number(whole.lastVersion) + 1 });
    const amounts = [71n, 72n, 73n];
    for (const amount of amounts) node.mine({ transactions: [toBob(amount)] });
    await expectAmounts(amounts);
    await caughtUp();
    const [coverage] = await sluice.getCoverage(id);
    expect(coverage).toMatchObject({ from: passed + 1, holes: [] });
  });

  test('loses nothing when a stream is created while blocks arrive', async () => {
    await start();
    await isLive();
    const { id } = await client.streams.create({
      networkType: 'aptos',
      webhookUrl: `${sink.url}/hook`,
      description: '',
      tag: 'bob',
      network: ['local'],
    });
    const paid: { amount: bigint; version: number }[] = [];
    const timer = setInterval(() => {
      const amount = BigInt(paid.length + 1);
      const { firstVersion } = node.mine({ transactions: [toBob(amount)] });
      paid.push({ amount, version: Number(firstVersion) });
    }, 5);
    await until('some blocks were passed over', () => paid.length > 20);
    const { effectiveFrom } = await client.streams.addAddress(id, BOB, { networkType: 'aptos' });
    const known = paid.length;
    await until('more blocks arrived', () => paid.length > known + 20);
    clearInterval(timer);
    await caughtUp();
    const promised = paid.filter(({ version }) => version >= effectiveFrom!['local']!);
    expect(promised.length).toBeLessThan(paid.length);
    await expectAmounts(promised.map(({ amount }) => amount));
  });
});

describe('a faulty node', () => {
  const troubles: [string, AptosTrouble][] = [
    ['omits a version', { kind: 'versionGap' }],
    ['returns an empty page', { kind: 'truncatedPage', limit: 0 }],
    ['rate limits with 429', { kind: 'rateLimit', retryAfterSeconds: 1 }],
    ['rate limits with 503', { kind: 'rateLimit', status: 503, retryAfterSeconds: 1 }],
    ['returns truncated JSON', { kind: 'malformedJson' }],
    ['is behind a broken proxy', { kind: 'httpError', status: 502 }],
    ['returns internal errors', { kind: 'internalError' }],
  ];
  test.each(troubles)('%s: nothing is delivered until it recovers', async (_, trouble) => {
    await start();
    await watchBob();
    await isLive();
    const before = (await health()).checkpoint;
    node.trouble(trouble);
    node.mine({ transactions: [toBob(7n)] });
    await until('the outage is reported', async () => (await health()).state === 'down');
    expect((await health()).message).not.toBe('');
    expect((await health()).checkpoint).toBe(before);
    expect(sink.requests).toEqual([]);
    node.heal();
    await expectAmounts([7n]);
    await isLive();
  });

  test('that lags delays blocks until it has them', async () => {
    await start();
    await watchBob();
    await isLive();
    node.trouble({ kind: 'lag', blocks: 4 });
    node.mine({ transactions: [toBob(11n)] });
    node.mineMany(2);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(sink.requests).toEqual([]);
    // A head below the checkpoint means that the node lags, not that there is a different branch.
    expect((await health()).state).toBe('live');
    node.heal();
    await expectAmounts([11n]);
  });

  test('that pruned unread blocks halts the chain, which can be resumed as its message says', async () => {
    await start();
    await watchBob();
    node.mineMany(2);
    await caughtUp();
    await stop();
    const lost = node.mine({ transactions: [toBob(13n)] });
    const [oldest] = node.mineMany(3).slice(-1);
    const kept = node.mine({ transactions: [toBob(17n)] });
    node.trouble({ kind: 'pruned', belowVersion: oldest!.firstVersion });
    await start();
    const down = await until('the chain halts', async () => {
      const now = await health();
      return now.state === 'down' && now;
    });
    expect(down.message).toContain(`block ${lost.height} was pruned`);
    expect(down.message).toContain(`sluice chains resume ${CHAIN} --from ${kept.height}`);
    expect(await sluice.resumeChain(CHAIN, { from: Number(kept.height) })).toEqual({
      chainId: CHAIN,
      from: Number(kept.height),
    });
    await expectAmounts([17n]);
    const { result } = await client.streams.list({ networkType: 'aptos' });
    expect(await sluice.getCoverage(result[0]!.id)).toMatchObject([
      {
        chainId: CHAIN,
        holes: [{ from: Number(lost.height), to: Number(kept.height) - 1, reason: 'resumed' }],
      },
    ]);
  });

  test('of a recreated chain is rejected because its blocks differ', async () => {
    await start();
    await watchBob();
    await caughtUp();
    await stop();
    const other = await startScriptedAptos({ seed: 'another' });
    others.push(other);
    other.mineMany(20);
    await start([other.url]);
    const down = await until('the chain halts', async () => {
      const now = await health();
      return now.state === 'down' && now;
    });
    expect(down.message).toMatch(
      /block 3 is 0x.*, but 0x.* in this ledger: the node serves a different chain/,
    );
  });

  test('of a local network that restarted is followed from its first block', async () => {
    await start();
    await watchBob();
    await caughtUp();
    await stop();
    const other = await startScriptedAptos({
      seed: 'another',
      genesisTimestampUsecs: 1_800_000_000_000_000n,
    });
    others.push(other);
    other.mine({ transactions: [toBob(11n)] });
    await start([other.url], [], true);
    await expectAmounts([11n]);
    const [gap] = await sluice.listGaps({ chain: CHAIN });
    expect(gap).toMatchObject({ kind: 'restarted', from: 0, to: 0 });
  });

  test('of another chain id is rejected', async () => {
    await start();
    await caughtUp();
    await stop();
    node.trouble({ kind: 'wrongChainId', chainId: 99 });
    await start();
    const down = await until('the chain halts', async () => {
      const now = await health();
      return now.state === 'down' && now;
    });
    expect(down.message).toContain('the chain ID is 99 but this ledger began with 4');
  });
});

describe('two nodes of one chain', () => {
  const startSecond = async (): Promise<RunningScriptedAptos> => {
    const second = await startScriptedAptos({ ledger: node });
    others.push(second);
    return second;
  };

  test.each<[string, AptosTrouble]>([
    ['fails', { kind: 'httpError', status: 502 }],
    ['omits versions', { kind: 'versionGap' }],
    ['rate limits', { kind: 'rateLimit', retryAfterSeconds: 60 }],
    ['prunes', { kind: 'pruned', belowVersion: 10_000n }],
    ['lags', { kind: 'lag', blocks: 8 }],
  ])('if one %s, the other is read and nothing is missed', async (_, trouble) => {
    const second = await startSecond();
    await start([node.url, second.url]);
    await watchBob();
    await isLive();
    const amounts: bigint[] = [];
    for (let n = 1; n <= 30; n++) {
      if (n === 10) node.trouble(trouble);
      amounts.push(BigInt(n));
      node.mine({ transactions: [toBob(BigInt(n))] });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await caughtUp();
    await expectAmounts(amounts);
    await isLive();
  });
});

test('nodes of two chains with the same chain id halt the chain', async () => {
  const other = await startScriptedAptos({ seed: 'another' });
  others.push(other);
  other.mineMany(3);
  await start([node.url, other.url]);
  const down = await until('the chain halts', async () => {
    const now = await health();
    return now.state === 'down' && now;
  });
  expect(down.message).toMatch(/disagree about block 3 .*another --aptos to break the tie/);
  expect(down.checkpoint).toBeNull();
});

describe('a transaction stream', () => {
  let streams: RunningScriptedAptosStream[];
  beforeEach(() => {
    streams = [];
  });
  afterEach(async () => {
    // The service must stop first, because it reads from these servers.
    await stop();
    await Promise.all(streams.map((each) => each.stop()));
  });
  const startStream = async (
    options: { key?: string; port?: number } = {},
  ): Promise<RunningScriptedAptosStream> => {
    const stream = await startScriptedAptosStream({ ledger: node, ...options });
    streams.push(stream);
    return stream;
  };
  const pagesOfNode = (): number => node.calls.transactions ?? 0;
  const healthOf = async ({ port }: RunningScriptedAptosStream) =>
    (await health()).providers.find(({ name }) => name === `127.0.0.1:${port}`);
  /**
   * Mines `count` blocks with one payment each, to Bob or to Carol. Returns the amounts for Bob.
   */
  const pay = (count: number, from = 1): bigint[] => {
    const amounts: bigint[] = [];
    for (let n = from; n < from + count; n++) {
      const amount = BigInt(10_000 + n);
      if (n % 3 === 0) amounts.push(amount);
      node.mine({ transactions: [n % 3 === 0 ? toBob(amount) : toCarol(amount)] });
    }
    return amounts;
  };

  test('provides every transaction over one authenticated stream, and the fullnode none', async () => {
    const stream = await startStream({ key: 'a key/with signs' });
    await start([node.url], [stream.url]);
    await watchBob();
    await isLive();
    const amounts = pay(60);
    await caughtUp();
    amounts.push(...pay(60, 61));
    await caughtUp();
    await expectAmounts(amounts);
    expect(pagesOfNode()).toBe(0);
    expect(stream.calls).toHaveLength(1);
    expect(await healthOf(stream)).toMatchObject({ state: 'good', failures: 0 });
  });

  test('property: despite any trouble, deliveries equal payments', async () => {
    const [one, two] = [await startStream(), await startStream()];
    await start([node.url], [one.url, two.url]);
    await watchBob();
    await isLive();
    const troubles: AptosStreamTrouble[] = [
      { kind: 'ends' },
      { kind: 'status', code: 14 },
      { kind: 'lag', versions: 5 },
      { kind: 'garbage' },
      { kind: 'rateLimit', retryAfterSeconds: 1 },
      { kind: 'versionGap' },
      { kind: 'wrongChainId', chainId: 99 },
    ];
    const amounts: bigint[] = [];
    for (const [n, trouble] of troubles.entries()) {
      (n % 2 === 0 ? one : two).trouble(trouble);
      amounts.push(...pay(6, 1 + 100 * n), ...pay(6, 51 + 100 * n));
      await new Promise((resolve) => setTimeout(resolve, 50));
      (n % 2 === 0 ? one : two).heal();
    }
    await one.stop();
    amounts.push(...pay(20, 1_001));
    await two.stop();
    amounts.push(...pay(20, 2_001));
    await caughtUp();
    await expectAmounts(amounts);
    expect(pagesOfNode()).toBeGreaterThan(0);
    expect((await health()).state).toBe('live');
  });

  test('is supplemented by the fullnode for payloads that it lacks', async () => {
    const stream = await startStream();
    await start([node.url], [stream.url]);
    const { id } = await client.streams.create({
      networkType: 'aptos',
      webhookUrl: `${sink.url}/hook`,
      description: '',
      tag: 'calls',
      network: ['local'],
      allAddresses: true,
      functions: ['0x1::aptos_account::transfer'],
      includePayload: true,
    });
    await isLive();
    const amounts = pay(9).map(String);
    expect(pagesOfNode()).toBe(0);
    node.mine({ transactions: [scriptedAptos.encrypted(toBob(8n)), toBob(9n)] });
    const wanted = [...amounts, '8', '9'];
    const received = await until('the calls are delivered', () => {
      const transfers = bodies().flatMap((body) => body.coinTransfers);
      const values = transfers.filter(({ to }) => to === BOB).map(({ value }) => value);
      return values.length >= wanted.length && values;
    });
    expect(received.toSorted()).toEqual(wanted.toSorted());
    expect(bodies().flatMap(({ payloads }) => payloads)).toContainEqual(
      expect.objectContaining({
        encrypted_state: 'decrypted',
        decrypted_payload: expect.objectContaining({ arguments: ['0xb0b', '8'] }) as unknown,
      }),
    );
    expect(pagesOfNode()).toBeGreaterThan(0);
    expect(await healthOf(stream)).toMatchObject({ state: 'good', failures: 0 });
    expect(await sluice.getCoverage(id)).toMatchObject([{ holes: [] }]);
  });

  test('serves a backfill and live blocks at once', async () => {
    const stream = await startStream();
    const amounts = pay(30);
    const versionTo = Number(node.head.lastVersion);
    await start([node.url], [stream.url]);
    await isLive();
    const id = await watchBob();
    await sluice.createAptosBackfill('local', { streamId: id, versionFrom: 1, versionTo });
    amounts.push(...pay(9, 31));
    await expectAmounts(amounts);
    expect(pagesOfNode()).toBe(0);
  });
});

describe('the owner of a store that its transaction does not show', () => {
  const hidden = (amount: bigint) => ({ ...toBob(amount), showsStoreOwners: false });

  test('is looked up', async () => {
    await start();
    await watchBob();
    await isLive();
    node.mine({ transactions: [hidden(23n)] });
    await expectAmounts([23n]);
  });

  test('is awaited while the queried node lags', async () => {
    await start();
    await watchBob();
    await isLive();
    node.trouble({ kind: 'lag', blocks: 2, routes: ['resource'] });
    node.mine({ transactions: [hidden(29n)] });
    await until('the outage is reported', async () => (await health()).state === 'down');
    expect(sink.requests).toEqual([]);
    node.heal();
    await expectAmounts([29n]);
  });

  test('is the current one if the node has pruned older state', async () => {
    await start();
    await watchBob();
    await caughtUp();
    await stop();
    const { lastVersion } = node.mine({ transactions: [hidden(31n)] });
    node.mineMany(3);
    node.trouble({ kind: 'pruned', belowVersion: lastVersion + 1n, routes: ['resource'] });
    await start();
    await expectAmounts([31n]);
  });

  test('is the store if its object is gone, and the asset is still known', async () => {
    await start();
    await watchBob();
    await isLive();
    const store = { address: account(0x5704e), owner: BOB, metadata: account(0xa) };
    const { address, metadata } = store;
    const call = { sender: CAROL, function: '0x5::vault::run' };
    node.mine({
      transactions: [
        scriptedAptos.call({ ...call, effects: aptosEffects.writeStore(store) }),
        {
          ...scriptedAptos.call({
            ...call,
            effects: [
              // The state before this transaction still names Bob.
              ...aptosEffects.fungibleDeposit({ address, metadata }, 36n),
              { kind: 'deleteResource', address, type: '0x1::object::ObjectCore' },
            ],
          }),
          showsStoreOwners: false,
        },
        scriptedAptos.call({
          ...call,
          effects: [
            ...aptosEffects.fungibleDeposit({ address, metadata }, 37n),
            // Touches Bob, whose stream gets the transaction.
            { kind: 'event', type: '0x1::coin::CoinRegister', data: { account: '0xb0b' } },
          ],
        }),
      ],
    });
    const deposits = await until('the deposits are delivered', () => {
      const all = bodies().flatMap(({ coinDeposits }) => coinDeposits);
      return all.length >= 2 && all;
    });
    expect(deposits.map(({ address, value, coin }) => [address, value, coin.type])).toEqual([
      [BOB, '36', `${account(1)}::aptos_coin::AptosCoin`],
      [address, '37', `${account(1)}::aptos_coin::AptosCoin`],
    ]);
  });
});
