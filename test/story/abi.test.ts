/**
 * Tests ABIs of verified contracts and of the implementations behind proxies, from an ABI source
 * and a real chain.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import { type Anvil, deployContracts, startAnvil, until } from '@sluice/testkit';
import { VERSION, readCommit } from '@sluice/service/build';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CALLS } from '@sluice/kit/calls';
import { API_KEY, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const OTHER = '0x1';
const EIP1967 = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
const ZEPPELIN = '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3';
const address = (digit: string) => `0x${digit.repeat(40)}`;
const event = (name: string) => ({ type: 'event', name, inputs: [], anonymous: false });

const folder = mkdtempSync(join(tmpdir(), 'sluice-abi-'));
let anvil: Anvil;
let verifier: Server;
let served: Served;
let sluice: SluiceClient;
const asked: string[] = [];
/**
 * Responses of the ABI source by address. Other addresses get a 404, because their contracts are
 * not verified.
 */
const responses = new Map<string, { status?: number; body: string }>();

beforeAll(async () => {
  anvil = await startAnvil();
  verifier = createServer((request, response) => {
    asked.push(request.url ?? '');
    const given = responses.get((request.url ?? '').split(/[/?]/)[2] ?? '');
    response.writeHead(given?.status ?? (given === undefined ? 404 : 200)).end(given?.body);
  });
  await new Promise<void>((resolve) => verifier.listen(0, '127.0.0.1', resolve));
  const { port } = verifier.address() as AddressInfo;
  served = await serve([
    ...['--data', folder, '--chain', `${CHAIN}=${anvil.url},poll=50`],
    ...['--abi-url', `${CHAIN}=http://127.0.0.1:${port}/contract/{address}?key=verifier-key`],
  ]);
  sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: served.url });
  await until('the chain is live', async () => (await sluice.listChains())[0]?.state === 'live');
}, 60_000);
afterAll(async () => {
  await served?.stop();
  verifier?.close();
  await anvil?.stop();
  rmSync(folder, { recursive: true });
});

test('the service returns the ABI of a contract by its address', async () => {
  responses.set(address('a'), { body: JSON.stringify({ abi: [event('Plain')] }) });
  const found = await sluice.getContractAbi(CHAIN, address('A'));
  CALLS.getContractAbi.response.parse(found);
  expect(found).toMatchObject({ abi: [event('Plain')], implementation: null });
  expect(found.source).toMatch(/^127\.0\.0\.1:\d+$/);
  expect(asked.at(-1)).toBe(`/contract/${address('a')}?key=verifier-key`);
  expect(await sluice.getAbout()).toMatchObject({
    environment: 'prod',
    version: VERSION,
    commit: readCommit(),
    abiChains: [CHAIN],
    fastRetryMs: 5_000,
    retryWaitsMs: [1, 10, 60, 120, 360, 720, 1440].map((minutes) => minutes * 60_000),
  });
});

test.each([
  ['EIP-1967', EIP1967],
  ['older proxies', ZEPPELIN],
])('the service adds the ABI of the implementation behind a proxy (%s)', async (_, slot) => {
  const [proxy, behind] = slot === EIP1967 ? ['b', 'c'] : ['d', 'c'];
  responses.set(address(proxy), { body: JSON.stringify([event('Upgraded'), event('Both')]) });
  responses.set(address(behind), { body: JSON.stringify([event('Both'), event('Behind')]) });
  const word = `0x${'0'.repeat(24)}${behind.repeat(40)}`;
  await anvil.request('anvil_setStorageAt', [address(proxy), slot, word]);
  const { abi, implementation } = await sluice.getContractAbi(CHAIN, address(proxy));
  expect(implementation).toBe(address(behind));
  expect(abi.map(({ name }) => name)).toEqual(['Upgraded', 'Both', 'Behind']);
});

test('the service distinguishes an account, a contract and a token', async () => {
  const { erc20, erc721 } = await deployContracts(anvil);
  const read = async (of: string) => {
    const contract = await sluice.getContract(CHAIN, of);
    CALLS.getContract.response.parse(contract);
    return contract;
  };
  expect(await read(anvil.accounts[0]!.address)).toEqual({ isContract: false, token: null });
  await anvil.request('anvil_setCode', [address('9'), '0x00']);
  expect(await read(address('9'))).toEqual({ isContract: true, token: null });
  expect(await read(erc20)).toEqual({
    isContract: true,
    token: { name: 'Sluice Dollar', symbol: 'SLD', decimals: 6, standard: '' },
  });
  expect((await read(erc721)).token).toMatchObject({ standard: 'ERC721', decimals: null });
});

test('an error gives the reason and does not contain the key', async () => {
  const refused = async (chain: string, of: string) => {
    const error = await sluice.getContractAbi(chain, of).catch((thrown: unknown) => thrown);
    expect(String(error)).not.toContain('verifier-key');
    return error;
  };
  expect(await refused(CHAIN, address('e'))).toMatchObject({
    status: 404,
    message: expect.stringMatching(/has no verified contract at 0xe{40}/) as string,
  });
  responses.set(address('f'), { status: 500, body: 'down' });
  expect(await refused(CHAIN, address('f'))).toMatchObject({
    status: 503,
    message: expect.stringMatching(/returned no ABI: HTTP 500/) as string,
  });
  responses.set(address('f'), { body: '<html>' });
  expect(await refused(CHAIN, address('f'))).toMatchObject({ status: 503 });
  expect(await refused(OTHER, address('a'))).toMatchObject({
    status: 400,
    message: expect.stringContaining('--abi-url 0x1=https://…/{address}') as string,
  });
  expect(await refused(CHAIN, 'x')).toMatchObject({ status: 422 });
});
