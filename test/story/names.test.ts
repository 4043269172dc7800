/** Tests ENS names on a chain with Ethereum's ID: how they resolve, and why some do not. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import { type Anvil, placeNames, startAnvil, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CALLS } from '@sluice/kit/calls';
import { API_KEY, type Served, serve } from '../serve.ts';

const TREASURY = '0x71c7656ec7ab88b098defb751b7401b5f6d8976f';

const folder = mkdtempSync(join(tmpdir(), 'sluice-names-'));
let anvil: Anvil;
let served: Served;
let sluice: SluiceClient;

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 1 });
  served = await serve(['--data', folder, '--chain', `0x1=${anvil.url},poll=50`]);
  sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: served.url });
  await until('the chain is live', async () => (await sluice.listChains())[0]?.state === 'live');
}, 60_000);
afterAll(async () => {
  await served?.stop();
  await anvil?.stop();
  rmSync(folder, { recursive: true });
});

const refused = (name: string) => sluice.resolveName(name).catch((thrown: unknown) => thrown);

test('a chain without names is reported as such', async () => {
  expect(await refused('treasury.eth')).toMatchObject({
    status: 503,
    message: expect.stringContaining('no ENS names') as string,
  });
});

test('a name resolves in any case, or the error gives the reason', async () => {
  await placeNames(anvil, { 'treasury.eth': TREASURY, 'pay.treasury.eth': TREASURY });
  const resolved = await sluice.resolveName('Treasury.ETH');
  CALLS.resolveName.response.parse(resolved);
  expect(resolved).toEqual({ name: 'treasury.eth', address: TREASURY, chainId: '0x1' });
  expect(await sluice.resolveName('pay.treasury.eth')).toMatchObject({ address: TREASURY });
  expect(await refused('nobody.eth')).toMatchObject({
    status: 404,
    message: 'nobody.eth does not resolve to an address',
  });
  expect(await refused('elsewhere.eth')).toMatchObject({
    status: 404,
    message: expect.stringContaining('requires an off-chain lookup') as string,
  });
  for (const bad of ['treasury', 'a b.eth', 'a..eth']) {
    expect(await refused(bad)).toMatchObject({
      status: 422,
      message: expect.stringContaining('should be an ENS name') as string,
    });
  }
});

test('explain lists the streams that watch the address of a name', async () => {
  const api = createClient({ apiKey: API_KEY, baseUrl: served.url });
  const { id } = await api.streams.create({
    webhookUrl: 'sluice://inbox/names',
    description: '',
    tag: 'named',
    chainIds: ['0x1'],
    includeNativeTxs: true,
  });
  await api.streams.addAddress(id, TREASURY);
  expect(await sluice.explain('treasury.eth')).toMatchObject({
    query: 'treasury.eth',
    kind: 'address',
    message: `treasury.eth is ${TREASURY}. 1 of 1 streams watch ${TREASURY}`,
    streams: [{ streamId: id, verdict: 'watched' }],
  });
  expect(await sluice.explain('nobody.eth')).toMatchObject({
    kind: 'unknown',
    message: 'nobody.eth does not resolve to an address',
  });
});

test('without an Ethereum node, the error names the flag', async () => {
  const alone = mkdtempSync(join(tmpdir(), 'sluice-names-'));
  const other = await serve(['--data', alone]);
  try {
    const client = createSluiceClient({ apiKey: API_KEY, baseUrl: other.url });
    await expect(client.resolveName('treasury.eth')).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('--chain 0x1=<rpcUrl>') as string,
    });
  } finally {
    await other.stop();
    rmSync(alone, { recursive: true });
  }
});
