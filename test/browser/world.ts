/**
 * Sets up the browser tests: the real service, an Anvil chain, a scripted Aptos chain and a
 * receiver.
 */
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
  /** Base URL of the service, without a trailing slash. */
  url: string;
  apiKey: string;
  secret: string;
  client: Client;
  /**
   * Creates a stream of all `Transfer` events on the local EVM chain. Its webhooks go to the
   * receiver.
   */
  createStream(tag: string): Promise<{ id: string }>;
  webhookUrl: string;
  /** Address of the token on the local EVM chain. */
  token: string;
  /** Sends one token transfer, which Anvil mines at once, usually in a separate block. */
  transfer(): Promise<void>;
  /** Mines empty blocks, which confirm earlier ones. */
  mine(blocks: number): Promise<void>;
  /** Sets the status that the receiver returns. Default: 200. */
  respondWith(status: number): void;
  stop(): Promise<void>;
}

const CHAIN_ID = '0x7a69';
const API_KEY = 'browser_test_key_0123456789';
const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

export const DOCS_FOLDER = join(REPOSITORY, 'docs');

export const CONFIRMATIONS = 2;

/** Builds the console, and returns the folder with its files. */
export async function buildConsole(): Promise<string> {
  await promisify(execFile)(process.execPath, ['scripts/run.mjs', 'build'], { cwd: REPOSITORY });
  return join(REPOSITORY, 'packages/console/dist');
}

export async function startWorld(): Promise<World> {
  const consoleFolder = await buildConsole();
  let status = 200;
  let token = '';
  const receiver = createServer((request, response) => {
    // The receiver is also the ABI source, which knows only the token.
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
  // The Aptos chain starts with more blocks than a dry run reads at first, and then receives one
  // payment per second.
  const aptos = await startScriptedAptos();
  aptos.mineMany(30);
  const payments = startAptosActivity({ ledger: aptos, perSecond: 1 });
  const dataFolder = await mkdtemp(join(tmpdir(), 'sluice-browser-'));
  const service = await startService({
    port: 0,
    host: '127.0.0.1',
    data: dataFolder,
    apiKey: API_KEY,
    chains: [{ id: CHAIN_ID, urls: [anvil.url], pollMs: 100, confirmations: CONFIRMATIONS }],
    aptos: [{ network: 'local', urls: [aptos.url], pollMs: 250 }],
    explorers: { [CHAIN_ID]: 'https://explorer.example' },
    abiUrls: { [CHAIN_ID]: webhookUrl.replace('/hooks', '/abi/{address}') },
    allowPrivateEndpoints: true,
    consoleFolder,
    docsFolder: DOCS_FOLDER,
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
    respondWith(next) {
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

/** Waits until every chain is live, because blocks before that are not matched. */
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
