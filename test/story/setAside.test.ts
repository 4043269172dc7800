/**
 * Tests that records that are too large for a webhook, and bodies that the ledger refuses, are
 * quarantined, counted and explained. All others arrive.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Client, createClient } from '@sluice/kit';
import type { AptosWebhook, EvmWebhook } from '@sluice/kit/contract';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import {
  type RunningScriptedAptos,
  type RunningScriptedChain,
  type WebhookSink,
  scripted,
  scriptedAptos,
  startScriptedAptos,
  startScriptedChain,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const MAX_WEBHOOK_BYTES = 16_384;
const HUGE = 'ab'.repeat(MAX_WEBHOOK_BYTES);
const CONTRACT = `0x${'c0'.repeat(20)}` as const;
const TOPIC = `0x${'70'.repeat(32)}` as const;
const account = (n: number): `0x${string}` => `0x${n.toString(16).padStart(64, '0')}`;
const [ALICE, BOB] = [account(0xa11ce), account(0xb0b)];

const folder = mkdtempSync(join(tmpdir(), 'sluice-set-aside-'));
let evm: RunningScriptedChain;
let aptos: RunningScriptedAptos;
let sink: WebhookSink;
let served: Served;
let client: Client;
let sluice: SluiceClient;

beforeAll(async () => {
  [evm, aptos, sink] = await Promise.all([
    startScriptedChain(),
    startScriptedAptos(),
    startWebhookSink(),
  ]);
  evm.mineMany(3);
  aptos.mineMany(3);
  served = await serve([
    ...['--data', folder, '--max-webhook-bytes', String(MAX_WEBHOOK_BYTES)],
    ...['--chain', `${CHAIN}=${evm.url},confirmations=2,poll=50`],
    ...['--aptos', `local=${aptos.url},poll=50`],
  ]);
  client = createClient({ apiKey: API_KEY, baseUrl: served.url });
  sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: served.url });
  await until('both chains are live', async () =>
    (await sluice.listChains()).every(({ state }) => state === 'live'),
  );
}, 60_000);
afterAll(async () => {
  await served?.stop();
  await sink?.close();
  await Promise.all([evm?.stop(), aptos?.stop()]);
  rmSync(folder, { recursive: true });
});

async function readCounter(): Promise<number> {
  const response = await fetch(`${served.url}/metrics`, { headers: { 'x-api-key': API_KEY } });
  return Number(/^sluice_deliveries_quarantined_total (\d+)$/m.exec(await response.text())?.[1]);
}

/**
 * Waits until a stream has `count` deliveries, all of them succeeded or quarantined, and returns
 * them.
 */
const ended = (streamId: string, count: number) =>
  until(`${count} deliveries of ${streamId} have ended`, async () => {
    const { result } = await sluice.listDeliveries({ streamId });
    const isEnded = result.every(({ state }) => state === 'succeeded' || state === 'quarantined');
    return result.length === count && isEnded && result;
  });

const bodiesOf = <Body>(streamId: string): Body[] =>
  sink.requests
    .filter(({ body }) => body.includes(streamId))
    .map(({ body }) => {
      expect(body.length).toBeLessThanOrEqual(MAX_WEBHOOK_BYTES);
      return JSON.parse(body) as Body;
    });

test('the service quarantines a log over the limit on an EVM chain', async () => {
  const { id } = await client.streams.create({
    webhookUrl: sink.url,
    description: '',
    tag: 'logs',
    chainIds: [CHAIN],
    includeContractLogs: true,
  });
  await client.streams.addAddress(id, CONTRACT);
  const counted = await readCounter();
  const small = { address: CONTRACT, topics: [TOPIC], data: '0x01' } as const;
  const { number, transactions } = evm.mine({
    transactions: [
      scripted.log(small),
      { to: CONTRACT, logs: [small, { ...small, data: `0x${HUGE}` }, small] },
    ],
  });
  evm.mineMany(3);
  const [, huge] = transactions;

  // Each phase has three deliveries: the earlier logs, the large log, and the log after it.
  const deliveries = await ended(id, 6);
  const aside = deliveries.filter(({ state }) => state === 'quarantined');
  const error = expect.stringMatching(
    new RegExp(
      String.raw`^log 2 of transaction ${huge!.hash} needs a webhook of at least \d+ bytes, but --max-webhook-bytes is ${MAX_WEBHOOK_BYTES}: the record is not sent$`,
    ),
  ) as string;
  expect(aside.toSorted((a, b) => a.phase.localeCompare(b.phase))).toMatchObject([
    { phase: 'confirmed', attempts: 0, records: 1, error },
    { phase: 'unconfirmed', attempts: 0, records: 1, error },
  ]);
  const sent = bodiesOf<EvmWebhook>(id)
    .filter(({ confirmed }) => confirmed)
    .flatMap(({ logs }) => logs.map(({ logIndex }) => logIndex));
  expect(sent.toSorted()).toEqual(['0', '1', '3']);
  await expect.poll(readCounter).toBe(counted + 2);

  for (const query of [huge!.hash, String(number), aside[0]!.id]) {
    const [verdict] = (await sluice.explain(query, { chain: CHAIN })).streams;
    expect(verdict, query).toMatchObject({
      streamId: id,
      verdict: 'failed',
      reason: {
        stage: 'delivery',
        outcome: 'stopped',
        message: expect.stringContaining(huge!.hash),
      },
    });
    expect(verdict!.deliveries.map(({ error: reason }) => reason)).toContainEqual(error);
    expect(
      verdict!.records.map(({ kind, index, included }) => ({ kind, index, included })),
      query,
    ).toContainEqual({ kind: 'log', index: 2, included: true });
  }
});

test('the service quarantines an event over the limit on Aptos', async () => {
  const { id } = await client.streams.create({
    webhookUrl: sink.url,
    description: '',
    tag: 'events',
    network: ['local'],
    networkType: 'aptos',
    includeEvents: true,
  });
  await client.streams.addAddress(id, BOB, { networkType: 'aptos' });
  const counted = await readCounter();
  const transfer = scriptedAptos.transfer({ from: ALICE, to: BOB, amount: 5n });
  const said = { kind: 'event', type: '0xcafe::shout::Said', data: HUGE } as const;
  aptos.mine({ transactions: [{ ...transfer, effects: [...transfer.effects, said] }] });

  const deliveries = await until('all have ended', async () => {
    const { result } = await sluice.listDeliveries({ streamId: id });
    const isEnded = result.every(({ state }) => state === 'succeeded' || state === 'quarantined');
    return result.length > 1 && isEnded && result;
  });
  const aside = deliveries.filter(({ state }) => state === 'quarantined');
  const bodies = bodiesOf<AptosWebhook>(id);
  const [{ hash } = { hash: '' }] = bodies.flatMap(({ transactions }) => transactions);
  const error = expect.stringMatching(
    new RegExp(String.raw`^event \d+ of transaction ${hash} needs a webhook of at least \d+ bytes`),
  ) as string;
  expect(aside).toMatchObject([{ phase: 'confirmed', attempts: 0, error }]);
  const types = bodies.flatMap(({ events }) => JSON.stringify(events));
  expect(types.join('')).toContain('0x1::fungible_asset::Deposit');
  expect(types.join('')).not.toContain('shout::Said');
  await expect.poll(readCounter).toBe(counted + 1);

  for (const query of [hash, aside[0]!.id]) {
    const [verdict] = (await sluice.explain(query, { chain: 'aptos:local' })).streams;
    expect(verdict, query).toMatchObject({
      streamId: id,
      verdict: 'failed',
      reason: { stage: 'delivery', outcome: 'stopped', message: expect.stringContaining(hash) },
      records: [{ transactionHash: hash, included: true }],
    });
    expect(verdict!.deliveries.map(({ error: reason }) => reason)).toContainEqual(error);
  }
});

/** Makes the ledger refuse completed bodies of streams with this tag. */
function refuseBodiesOf(tag: string): void {
  const db = new DatabaseSync(join(folder, 'sluice.db'), { timeout: 10_000 });
  db.exec(`
    create trigger refuse_${tag} before update of body_tail on match when new.tag = '${tag}'
    begin select raise(abort, 'malformed body'); end`);
  db.close();
}

test.each([
  [
    'an EVM chain',
    CHAIN,
    async () => {
      const fields = { webhookUrl: sink.url, description: '', chainIds: [CHAIN] };
      const token = `0x${'70'.repeat(20)}` as const;
      const create = async (tag: string) => {
        const { id } = await client.streams.create({ ...fields, tag, includeContractLogs: true });
        await client.streams.addAddress(id, token);
        return id;
      };
      const ids = [await create('refused_evm'), await create('taken_evm')];
      refuseBodiesOf('refused_evm');
      const from = `0x${'11'.repeat(20)}` as const;
      evm.mine({
        transactions: [scripted.erc20Transfer({ token, from, to: CONTRACT, value: 5n })],
      });
      return ids;
    },
  ],
  [
    'Aptos',
    'aptos:local',
    async () => {
      const fields = { webhookUrl: sink.url, description: '', networkType: 'aptos' } as const;
      const create = async (tag: string) => {
        const { id } = await client.streams.create({ ...fields, tag, network: ['local'] });
        await client.streams.addAddress(id, BOB, { networkType: 'aptos' });
        return id;
      };
      const ids = [await create('refused_aptos'), await create('taken_aptos')];
      refuseBodiesOf('refused_aptos');
      const coinType = '0xcafe::moon::Moon';
      const moved = { from: ALICE, to: BOB, amount: 5n, coinType };
      aptos.mine({ transactions: [scriptedAptos.coinTransfer(moved)] });
      return ids;
    },
  ],
])('the service quarantines a body that the ledger refuses on %s', async (_, chain, match) => {
  const counted = await readCounter();
  const [refused, taken] = (await match()) as [string, string];
  const [delivery] = await ended(refused, 1);
  expect(delivery).toMatchObject({
    state: 'quarantined',
    attempts: 0,
    error: expect.stringMatching(/^the ledger rejected the body: .*malformed body/),
  });
  expect(await ended(taken, 1)).toMatchObject([{ state: 'succeeded' }]);
  await expect.poll(readCounter).toBe(counted + 1);
  const [verdict] = (await sluice.explain(delivery!.id, { chain })).streams;
  expect(verdict).toMatchObject({
    streamId: refused,
    verdict: 'failed',
    reason: { stage: 'delivery', message: expect.stringContaining('the ledger rejected the body') },
  });
  expect(verdict!.records.some(({ included: isTaken }) => isTaken)).toBe(true);
  expect((await fetch(`${served.url}/ready`)).status).toBe(200);
});
