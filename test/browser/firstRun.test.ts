/** Tests the console right after the first start of a service. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import { startService } from '@sluice/service';
import { aptosDevAccounts, startAptosActivity, startScriptedAptos, until } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  countActions,
  expectAccessible,
  expectContrast,
  expectNoSidewaysScroll,
  PHONE,
  rowsOf,
  smallTargets,
  startVisitor,
  type Visitor,
} from './visitor.ts';
import { buildConsole } from './world.ts';

const API_KEY = 'first_run_key_0123456789';
const ADDRESS = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const stops: (() => unknown)[] = [];
let visitor: Visitor;
let url: string;

beforeAll(async () => {
  const consoleFolder = await buildConsole();
  const aptos = await startScriptedAptos();
  stops.push(() => aptos.stop());
  const payments = startAptosActivity({ ledger: aptos, perSecond: 5 });
  stops.push(() => payments.stop());
  const dataFolder = await mkdtemp(join(tmpdir(), 'sluice-first-run-'));
  stops.push(() => rm(dataFolder, { recursive: true }));
  const service = await startService({
    port: 0,
    host: '127.0.0.1',
    data: dataFolder,
    apiKey: API_KEY,
    chains: [],
    aptos: [{ network: 'local', urls: [aptos.url], pollMs: 100 }],
    allowPrivateEndpoints: true,
    consoleFolder,
  });
  stops.push(() => service.stop());
  url = service.url;
  const sluice = createSluiceClient({ baseUrl: url, apiKey: API_KEY });
  await until('the chain is live', async () =>
    (await sluice.listChains()).every(({ state }) => state === 'live'),
  );
  visitor = await startVisitor({ url, apiKey: API_KEY });
  stops.push(() => visitor.stop());
});

afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

afterEach(() => visitor.leave());

test('a first run shows a welcome, on a phone too, and one click shows webhooks', async () => {
  const phone = await visitor.signedIn('/', PHONE);
  await phone.getByRole('button', { name: 'Start demo stream' }).waitFor();
  await expectNoSidewaysScroll(phone);
  expect(await smallTargets(phone)).toEqual([]);
  await phone.getByRole('link', { name: 'Deliveries', exact: true }).tap();
  await phone.getByText('No deliveries yet').waitFor();
  await phone.goBack();
  await phone.getByRole('button', { name: 'Start demo stream' }).waitFor();

  const page = await visitor.signedIn();
  await page.waitForURL(`${url}/console/welcome`);
  await page.getByText('sluice import moralis --dry-run').waitFor();
  await expectAccessible(page);
  await page.evaluate(() => void (document.documentElement.dataset['theme'] = 'dark'));
  await expectContrast(page);
  await page.getByLabel('Address', { exact: true }).fill(ADDRESS);
  await page.getByText(`--address ${ADDRESS}`).waitFor();

  await page.getByRole('button', { name: 'Start demo stream' }).click();
  await page.waitForURL(/\/streams\/[0-9a-f-]{36}$/);
  await rowsOf(page).filter({ hasText: 'delivered' }).first().waitFor();
  // The page on the phone lists the new stream without a reload.
  await phone.getByRole('link', { name: 'demo' }).waitFor();

  // After the last stream is deleted, the console offers the same first steps without the welcome.
  const client = createClient({ baseUrl: url, apiKey: API_KEY });
  const { result } = await client.streams.list({ networkType: 'aptos' });
  await client.streams.delete(result[0]!.id, { networkType: 'aptos' });
  await page.goto(`${url}/console/`);
  await page.getByRole('heading', { name: 'No streams' }).waitFor();
  await page.getByRole('button', { name: 'Start demo stream' }).waitFor();
  await page.goto(`${url}/console/welcome`);
  await page.getByRole('heading', { name: 'No streams' }).waitFor();
});

test('a recipe shows the first webhook after two clicks and a paste', async () => {
  const page = await visitor.signedIn('/', { permissions: ['clipboard-write'] });
  const countOf = await countActions(page);
  await page.getByRole('link', { name: /^Aptos payments/ }).click();
  await page.getByRole('textbox', { name: 'Addresses' }).waitFor();
  await expectAccessible(page);
  // The recipe puts the focus on the field for the addresses.
  await page.evaluate((text) => navigator.clipboard.writeText(text), aptosDevAccounts.join('\n'));
  await page.keyboard.press('Control+V');
  await page
    .getByRole('region', { name: 'Dry run' })
    .getByText(/[1-9]\d* records? in/)
    .waitFor();
  await page.getByRole('button', { name: 'Create stream' }).click();
  await page.getByRole('heading', { name: /^Aptos payments \(\d+ addresses\)$/ }).waitFor();
  await rowsOf(page).filter({ hasText: 'delivered' }).first().waitFor();
  expect(await countOf()).toEqual({ clicks: 2, keys: 1, texts: 1 });
});
