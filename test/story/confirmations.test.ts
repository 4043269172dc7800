/** Tests the confirmations and the timeouts that streams set, within the operator's bounds. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, type StreamFields, createClient } from '@sluice/kit';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import { type Anvil, type WebhookSink, startAnvil, startWebhookSink, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const folder = mkdtempSync(join(tmpdir(), 'sluice-confirmations-'));
let anvil: Anvil;
let sink: WebhookSink;
let service: Served;
let client: Client;
let sluice: SluiceClient;

const start = async (...args: string[]): Promise<void> => {
  service = await serve([
    ...['--data', folder, '--chain', `${CHAIN}=${anvil.url},confirmations=2,poll=50`],
    ...args,
  ]);
  client = createClient({ apiKey: API_KEY, baseUrl: service.url });
  sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: service.url });
  await until('the chain is live', async () =>
    (await sluice.listChains()).every(({ state }) => state === 'live'),
  );
};

beforeAll(async () => {
  anvil = await startAnvil();
  sink = await startWebhookSink();
  await start();
});
afterAll(async () => {
  await service?.stop();
  await sink?.close();
  await anvil?.stop();
  rmSync(folder, { recursive: true });
});

const createStream = async (fields: Partial<StreamFields>): Promise<string> => {
  const { id } = await client.streams.create({
    webhookUrl: `${sink.url}/hook`,
    description: '',
    tag: 'test',
    chainIds: [CHAIN],
    includeNativeTxs: true,
    ...fields,
  });
  await client.streams.addAddress(id, anvil.accounts[5]!.address);
  return id;
};
/** Sends a transaction to the watched address in a new block, whose number it returns. */
const transfer = async (): Promise<number> => {
  const [from, to] = [anvil.accounts[0]!.address, anvil.accounts[5]!.address];
  const hash = await anvil.request('eth_sendTransaction', [{ from, to }]);
  const receipt = await until('the transaction is mined', async () => {
    const found = await anvil.request('eth_getTransactionReceipt', [hash]);
    return (found as { blockNumber: string } | null) ?? undefined;
  });
  return Number(receipt.blockNumber);
};
/** Mines a block, and waits until it is committed. */
const mine = async (): Promise<void> => {
  await anvil.request('anvil_mine', ['0x1']);
  const head = Number(await anvil.request('eth_blockNumber', []));
  await until('the block is committed', async () =>
    (await sluice.listChains()).every(({ checkpoint }) => checkpoint === head),
  );
};
const phasesOf = async (streamId: string): Promise<string[]> =>
  (await sluice.listDeliveries({ streamId })).result
    .map(({ blockNumber, phase }) => `${blockNumber} ${phase}`)
    .toSorted();

test('each stream confirms a block after its own number of blocks, or after those of the chain', async () => {
  const [ofChain, four, latest] = [
    await createStream({}),
    await createStream({ confirmations: 4 }),
    await createStream({ confirmations: 'latest' }),
  ];
  const number = await transfer();
  await until('the block is matched', async () => (await phasesOf(latest)).length > 0);
  expect(await phasesOf(latest)).toEqual([`${number} confirmed`]);
  const explain = async () => {
    const { streams } = await sluice.explain(String(number), { chain: CHAIN });
    const { stages } = streams.find(({ streamId }) => streamId === four)!;
    return stages.at(-1)!.message;
  };
  const both = [`${number} confirmed`, `${number} unconfirmed`];
  for (let followed = 1; followed <= 4; followed++) {
    await mine();
    const isDue = (blocks: number) => (followed < blocks ? [`${number} unconfirmed`] : both);
    expect(await phasesOf(ofChain)).toEqual(isDue(2));
    expect(await phasesOf(four)).toEqual(isDue(4));
    expect(await explain()).toBe(
      followed < 4
        ? `waits for 4 blocks to follow, now ${followed} of 4`
        : 'the block is confirmed',
    );
  }
  expect(await phasesOf(latest)).toEqual([`${number} confirmed`]);
});

test('a block that is sent by hand and a backfill follow the confirmations of the stream', async () => {
  const number = await transfer();
  await mine();
  const soon = await createStream({ confirmations: 'latest' });
  const late = await createStream({ confirmations: 6 });
  for (const id of [soon, late]) {
    await client.streams.createHistoricalJob({
      chainId: CHAIN,
      streamId: id,
      blockFrom: number,
      blockTo: number,
    });
  }
  await until('one backfill is done', async () => (await phasesOf(soon)).length === 1);
  expect(await phasesOf(soon)).toEqual([`${number} confirmed`]);
  const waiting = await until('the other one waits', async () => {
    const [job] = await sluice.listJobs({ streamId: late });
    return job!.message.startsWith('waiting for block') && job;
  });
  expect(waiting).toMatchObject({ state: 'running' });
  for (let n = 0; n < 5; n++) await mine();
  await until('it is done', async () => (await phasesOf(late)).length === 1);
  expect(await phasesOf(late)).toEqual([`${number} confirmed`]);
  const again = await transfer();
  await mine();
  for (const [streamId, phase] of [
    [soon, 'confirmed'],
    [late, 'unconfirmed'],
  ] as const) {
    const before = await phasesOf(streamId);
    await client.streams.sendBlock({ chainId: CHAIN, blockNumber: again, streamId });
    await until('it is sent', async () => (await phasesOf(streamId)).length > before.length);
    expect((await phasesOf(streamId)).length).toBe(before.length + 1);
    expect(await phasesOf(streamId)).toContain(`${again} ${phase}`);
  }
});

test('confirmations outside of the bounds are rejected with the value and the bounds', async () => {
  for (const confirmations of [8_193, -1, 1.5, 'pending'] as never[]) {
    await expect(createStream({ confirmations })).rejects.toMatchObject({
      details: {
        'requestBody.confirmations': {
          message: 'should be latest, safe, finalized, or a whole number of blocks from 0 to 8192',
          value: confirmations,
        },
      },
    });
  }
  const id = await createStream({ confirmations: 8_192 });
  expect(await client.streams.update(id, { confirmations: null })).toMatchObject({
    confirmations: null,
  });
});

test('a lowered maximum of the timeout applies to streams that exceed it, and their status reports it', async () => {
  const id = await createStream({ timeoutSeconds: 60 });
  await service.stop();
  await start('--max-timeout-seconds', '20');
  expect((await client.streams.get(id)).statusMessage).toBe(
    'Attempts end after 20 s instead of 60 s because of --max-timeout-seconds',
  );
  await client.streams.update(id, { description: 'unchanged timeout' });
  await expect(client.streams.update(id, { timeoutSeconds: 21 })).rejects.toThrow(
    'should be at most 20, the --max-timeout-seconds of this service, or null',
  );
  await expect(createStream({ timeoutSeconds: 21 })).rejects.toThrow('should be at most 20');
  const { statusMessage } = await client.streams.update(id, { timeoutSeconds: 20 });
  expect(statusMessage).toBe('Stream is active');
});
