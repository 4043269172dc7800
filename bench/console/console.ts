/**
 * Measures the console in headless Chromium, which draws in software; a graphics card is faster.
 * The service is real; a proxy adds 100,000 deliveries, a 5 MB body, and a feed of new deliveries.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@sluice/kit';
import { startService } from '@sluice/service';
import { chromium } from 'playwright-core';
import { CHROMIUM_OPTIONS } from '../../test/browser/chromium.ts';
import type { Figures } from '../figures.ts';
import { measureImport } from './addresses.ts';
import { measureArrival } from './arrival.ts';
import type { Bench } from './bench.ts';
import { measureChart } from './chart.ts';
import { measureFleet } from './fleet.ts';
import { measureFirstLoads } from './firstLoads.ts';
import { startFront } from './front.ts';
import { measureHeap } from './heap.ts';
import { measureList } from './list.ts';
import { measurePayload } from './payload.ts';
import { measureRiver } from './river.ts';

const API_KEY = 'bench_console_key_0123456789';
const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

const PARTS: Record<string, (bench: Bench) => Promise<Figures>> = {
  list: measureList,
  heap: measureHeap,
  chart: measureChart,
  payload: measurePayload,
  addresses: measureImport,
  arrival: measureArrival,
  pages: measureFirstLoads,
  fleet: measureFleet,
  river: measureRiver,
};

/** @param names parts to measure. Default: all */
export async function measureConsole(names: readonly string[]): Promise<Figures> {
  const parts = (names.length === 0 ? Object.keys(PARTS) : names).map((name) => {
    const part = PARTS[name];
    if (part !== undefined) return part;
    throw new Error(`console has no part ${name}; its parts are ${Object.keys(PARTS).join(', ')}`);
  });
  execFileSync(process.execPath, ['scripts/run.mjs', 'build'], { cwd: REPOSITORY });
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-console-'));
  const service = await startService({
    port: 0,
    host: '127.0.0.1',
    data: folder,
    apiKey: API_KEY,
    chains: [],
    aptos: [],
    allowPrivateEndpoints: true,
    consoleFolder: join(REPOSITORY, 'packages/console/dist'),
  });
  const client = createClient({ baseUrl: service.url, apiKey: API_KEY });
  const { id: streamId } = await client.streams.create({
    webhookUrl: 'sluice://inbox/bench',
    description: 'of the bench',
    tag: 'bench',
    chainIds: ['0x1'],
    topic0: ['Transfer(address,address,uint256)'],
    allAddresses: true,
    includeContractLogs: true,
  });
  const front = await startFront(service.url, streamId);
  const browser = await chromium.launch(CHROMIUM_OPTIONS);
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(`${front.url}/console/#key=${API_KEY}`);
    await page.getByRole('link', { name: 'bench' }).waitFor();
    const figures: Figures = {};
    for (const measure of parts) {
      Object.assign(figures, await measure({ browser, page, front, client, streamId }));
    }
    return figures;
  } finally {
    await browser.close();
    await front.stop();
    await service.stop();
    rmSync(folder, { recursive: true });
  }
}
