/**
 * The setup of tests on both chain families: a receiver, and a service on a real EVM chain and a
 * scripted Aptos chain, both live.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@sluice/kit';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import {
  type Anvil,
  type DeployedContracts,
  type RunningScriptedAptos,
  type WebhookSink,
  deployContracts,
  startAnvil,
  startScriptedAptos,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { API_KEY, serve } from '../serve.ts';

/** ID of the EVM chain, whose blocks need two confirmations. */
export const CHAIN = '0x7a69';

export interface BothChains {
  url: string;
  anvil: Anvil;
  contracts: DeployedContracts;
  /** The Aptos chain, which is the network `local`. */
  aptos: RunningScriptedAptos;
  sink: WebhookSink;
  client: Client;
  sluice: SluiceClient;
  stop(): Promise<void>;
}

/** @param databaseUrl URL of a PostgreSQL ledger. Default: a SQLite ledger. */
export async function startBothChains(databaseUrl?: string): Promise<BothChains> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-both-'));
  const [anvil, aptos, sink] = await Promise.all([
    startAnvil(),
    startScriptedAptos(),
    startWebhookSink(),
  ]);
  const contracts = await deployContracts(anvil);
  aptos.mineMany(3);
  const service = await serve([
    ...['--data', folder, '--aptos', `local=${aptos.url},poll=50`],
    ...(databaseUrl === undefined ? [] : ['--database-url', databaseUrl]),
    ...['--chain', `${CHAIN}=${anvil.url},confirmations=2,poll=50`],
  ]);
  const { url } = service;
  const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: url });
  await until('both chains are live', async () =>
    (await sluice.listChains()).every(({ state }) => state === 'live'),
  );
  return {
    url,
    anvil,
    contracts,
    aptos,
    sink,
    sluice,
    client: createClient({ apiKey: API_KEY, baseUrl: url }),
    async stop() {
      await service.stop();
      await Promise.all([sink.close(), anvil.stop(), aptos.stop()]);
      rmSync(folder, { recursive: true });
    },
  };
}
