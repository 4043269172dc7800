/** A real service on a scripted chain with a receiver, for tests of commands. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@sluice/kit';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import { type Service, createLog, startService } from '@sluice/service';
import {
  type RunningScriptedChain,
  type WebhookSink,
  scripted,
  startScriptedChain,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { Command } from 'commander';
import { addServiceOptions, resolveSettings } from '../flags/options.ts';
import {
  type Run,
  type RunOptions,
  type Running,
  sluice,
  start,
} from '../terminal/scripted.test-only.ts';

const API_KEY = 'test-key-0123456789abcdef';
export const SECRET = 'test-streams-secret';
export const TOKEN = '0x700b6a60ce7eaaea56f065753d8dcb9653dbad35';
export const ALICE = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
export const BOB = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';

export interface World {
  readonly url: string;
  readonly folder: string;
  readonly chain: RunningScriptedChain;
  readonly sink: WebhookSink;
  readonly api: Client;
  readonly client: SluiceClient;
  /** Environment variables that select the service. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command against the service and waits until the command exits. */
  sluice(args: readonly string[], options?: RunOptions): Promise<Run>;
  start(args: readonly string[], options?: RunOptions): Running;
  /** Mines a block in which Alice pays Bob tokens. */
  pay(value: bigint): void;
  restart(): Promise<void>;
  /**
   * Stops the service, calls `work`, and starts the service again with the same port and folder.
   */
  whileStopped(work: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the service and waits until its chain is live.
 *
 * @param flags additional flags for the service.
 * @param isPlain whether to omit the test settings, so that the service creates its secret and
 * sends test webhooks.
 */
export async function startWorld(
  flags: readonly string[] = [],
  { isPlain = false }: { isPlain?: boolean } = {},
): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cli-'));
  const chain = await startScriptedChain();
  const sink = await startWebhookSink();
  const serve = (port: string): Promise<Service> =>
    startService(
      resolveSettings(
        addServiceOptions(new Command(), join(folder, 'data')).parse(
          [
            ...['--port', port, '--api-key', API_KEY],
            ...['--chain', `0x7a69=${chain.wsUrl},confirmations=1,poll=100`],
            ...['--allow-private-endpoints', '--min-free-mib', '0'],
            ...(isPlain ? [] : ['--secret', SECRET, '--no-test-webhook']),
            ...flags,
          ],
          { from: 'user' },
        ),
      ).config,
      createLog(() => {}),
    );
  let service = await serve('0');
  const { url } = service;
  const connection = { baseUrl: url, apiKey: API_KEY };
  const client = createSluiceClient(connection);
  // Blocks mined before the first read are not matched.
  await until('the chain is read', async () => (await client.listChains())[0]?.state === 'live');
  const variables = { SLUICE_API_URL: url, SLUICE_API_KEY: API_KEY };
  const withService = ({ env, ...rest }: RunOptions = {}): RunOptions => ({
    cwd: folder,
    ...rest,
    env: { ...variables, ...env },
  });
  const world: World = {
    url,
    folder,
    chain,
    sink,
    api: createClient(connection),
    client,
    env: variables,
    sluice: (args, options) => sluice(args, withService(options)),
    start: (args, options) => start(args, withService(options)),
    pay: (value) =>
      void chain.mine({
        transactions: [scripted.erc20Transfer({ token: TOKEN, from: ALICE, to: BOB, value })],
      }),
    restart: () => world.whileStopped(() => Promise.resolve()),
    async whileStopped(work) {
      await service.stop();
      await work();
      service = await serve(new URL(url).port);
    },
    async stop() {
      await service.stop();
      await sink.close();
      await chain.stop();
      rmSync(folder, { recursive: true });
    },
  };
  return world;
}
