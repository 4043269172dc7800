/**
 * The service and its console with the sample day of `sluice dev --seed demo`. The chains mine no
 * blocks until `startActivity` is called.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSluiceClient, type SluiceClient } from '@sluice/kit/sluice';
import { startService } from '@sluice/service';
import { startDemo } from '../../packages/demo/src/startDemo.ts';
import { buildConsole, DOCS_FOLDER } from '../browser/world.ts';

const API_KEY = 'seeded_day_key_0123456789';

export interface SeededDay {
  /** Base URL of the service, without a trailing slash. */
  url: string;
  apiKey: string;
  sluice: SluiceClient;
  idOf(tag: string): string;
  /** Returns the ID of the newest delivery of the stream with this tag. */
  newestOf(tag: string): Promise<string>;
}

export interface RunningDay extends SeededDay {
  /** Starts mining blocks at the rate of the real chains. */
  startActivity(): void;
  stop(): Promise<void>;
}

export async function startSeededDay(): Promise<RunningDay> {
  const consoleFolder = await buildConsole();
  const folder = await mkdtemp(join(tmpdir(), 'sluice-day-'));
  const demo = await startDemo({ folder });
  const service = await startService({
    port: 0,
    host: '127.0.0.1',
    data: folder,
    environment: 'dev',
    apiKey: API_KEY,
    chains: demo.chains,
    aptos: demo.aptos,
    allowPrivateEndpoints: true,
    allowNodeChanges: true,
    consoleFolder,
    docsFolder: DOCS_FOLDER,
  });
  return {
    ...(await visitDay({ url: service.url, apiKey: API_KEY })),
    startActivity: () => demo.startActivity(),
    async stop() {
      await service.stop();
      await demo.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** Connects to a sample day that is served by this or another process. */
export async function visitDay({
  url,
  apiKey,
}: Pick<SeededDay, 'url' | 'apiKey'>): Promise<SeededDay> {
  const sluice = createSluiceClient({ baseUrl: url, apiKey });
  const streams = await sluice.listStreamSummaries();
  const idOf = (tag: string): string => streams.find((each) => each.tag === tag)!.id;
  return {
    url,
    apiKey,
    sluice,
    idOf,
    newestOf: async (tag) =>
      (await sluice.listDeliveries({ streamId: idOf(tag), limit: 1 })).result[0]!.id,
  };
}
