/** What the browser tests watch: the real service over two chains, one of them real, and a receiver. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient, type Client } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import { startService } from '@sluice/service';
import {
  deployContracts,
  devAccounts,
  sluiceToken,
  startAnvil,
  startAptosActivity,
  startScriptedAptos,
} from '@sluice/testkit';
import { encodeFunctionData } from 'viem';

export interface World {
  /** Where the service answers, without a path at its end. */
  url: string;
  apiKey: string;
  /** Signs its webhooks. */
  secret: string;
  client: Client;
  /** A stream of every transfer of the local chain's token, to a receiver that answers 200. */
  createStream(tag: string): Promise<{ id: string }>;
  /** Where its webhooks go. */
  webhookUrl: string;
  /** The local chain's token. */
  token: string;
  /** Sends one token transfer, in a block of its own. */
  transfer(): Promise<void>;
  /** Blocks without transactions; they confirm earlier ones. */
  mine(blocks: number): Promise<void>;
  /** What the receiver answers from now on. */
  answerWith(status: number): void;
  stop(): Promise<void>;
}

const CHAIN_ID = '0x7a69';
const API_KEY = 'browser_test_key_0123456789';
const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

export const CONFIRMATIONS = 2;

/** @returns the folder the service is to serve it from. */
export async function buildConsole(): Promise<string> {
  await promisify(execFile)(process.execPath, ['scripts/run.mjs', 'build'], { cwd: REPOSITORY });
  return join(REPOSITORY, 'packages/console/dist');
}

export async function startWorld(): Promise<World> {
  const consoleFolder = await buildConsole();
  let status = 200;
  let token = '';
  const receiver = createServer((request, response) => {
    // It also verifies one contract.
    if (request.url?.startsWith('/abi/') === true) {
      const isKnown = request.url === `/abi/${token}`;
      response.writeHead(isKnown ? 200 : 404).end(JSON.stringify({ abi: sluiceToken.abi }));
      return;
    }
    request.resume().on('end', () => {
      response.writeHead(status, { 'content-type': 'text/plain' });
      response.end(status === 200 ? 'thank you' : 'TypeError: handler <b>crashed</b>');
    });
  });
  await new Promise<void>((resolve) => {
    receiver.listen(0, '127.0.0.1', resolve);
  });
  const webhookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;

  const anvil = await startAnvil();
  const { erc20 } = await deployContracts(anvil);
  token = erc20.toLowerCase();
  // One payment or another a second, after more blocks than a dry run begins with.
  const aptos = await startScriptedAptos();
  aptos.mineMany(30);
  const payments = startAptosActivity({ ledger: aptos, perSecond: 1 });
  const dataFolder = await mkdtemp(join(tmpdir(), 'sluice-browser-'));
  const service = await startService({
    port: 0,
    host: '127.0.0.1',
    dataFolder,
    apiKey: API_KEY,
    chains: [{ id: CHAIN_ID, urls: [anvil.url], pollMs: 100, confirmations: CONFIRMATIONS }],
    aptos: [{ network: 'local', urls: [aptos.url], pollMs: 250 }],
    abiUrls: { [CHAIN_ID]: webhookUrl.replace('/hooks', '/abi/{address}') },
    allowPrivateEndpoints: true,
    consoleFolder,
    schedule: [60_000],
  });
  const client = createClient({ baseUrl: service.url, apiKey: API_KEY });
  await untilLive(service.url);

  return {
    url: service.url,
    apiKey: API_KEY,
    secret: service.secret,
    webhookUrl,
    token: erc20,
    client,
    createStream: (tag) =>
      client.streams.create({
        webhookUrl,
        description: 'Transfers of <b>Sluice Dollar</b>',
        tag,
        chainIds: [CHAIN_ID],
        topic0: ['Transfer(address,address,uint256)'],
        allAddresses: true,
        includeContractLogs: true,
      }),
    async transfer() {
      const [owner, other] = devAccounts;
      const data = encodeFunctionData({
        abi: sluiceToken.abi,
        functionName: 'transfer',
        args: [other!.address, 1_250_000n],
      });
      await anvil.request('eth_sendTransaction', [{ from: owner!.address, to: erc20, data }]);
    },
    async mine(blocks) {
      await anvil.request('anvil_mine', [`0x${blocks.toString(16)}`]);
    },
    answerWith(next) {
      status = next;
    },
    async stop() {
      await service.stop();
      payments.stop();
      await aptos.stop();
      await anvil.stop();
      receiver.closeAllConnections();
      receiver.close();
      await rm(dataFolder, { recursive: true });
    },
  };
}

/** What is mined before a chain is first seen is no part of it. */
async function untilLive(baseUrl: string): Promise<void> {
  const sluice = createSluiceClient({ baseUrl, apiKey: API_KEY });
  const deadline = Date.now() + 20_000;
  for (;;) {
    const chains = await sluice.listChains();
    if (chains.every(({ state }) => state === 'live')) return;
    if (Date.now() > deadline) throw new Error(`not live in 20 s: ${JSON.stringify(chains)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
