/** Tests ENS names in the console: in the addresses of a new stream, the palette and Explain. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSluiceClient } from '@sluice/kit/sluice';
import { startService } from '@sluice/service';
import { placeNames, startAnvil, until } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectAccessible, startVisitor, type Visitor } from './visitor.ts';
import { buildConsole, DOCS_FOLDER } from './world.ts';

const API_KEY = 'names_test_key_0123456789';
const TREASURY = '0x71c7656ec7ab88b098defb751b7401b5f6d8976f';
const stops: (() => unknown)[] = [];
let visitor: Visitor;

beforeAll(async () => {
  const consoleFolder = await buildConsole();
  const anvil = await startAnvil({ chainId: 1 });
  stops.push(() => anvil.stop());
  await placeNames(anvil, { 'treasury.eth': TREASURY });
  const dataFolder = await mkdtemp(join(tmpdir(), 'sluice-names-'));
  stops.push(() => rm(dataFolder, { recursive: true }));
  const service = await startService({
    port: 0,
    host: '127.0.0.1',
    data: dataFolder,
    apiKey: API_KEY,
    consoleFolder,
    docsFolder: DOCS_FOLDER,
    chains: [{ id: '0x1', urls: [anvil.url], pollMs: 50 }],
    aptos: [],
    allowPrivateEndpoints: true,
  });
  stops.push(service.stop);
  const sluice = createSluiceClient({ baseUrl: service.url, apiKey: API_KEY });
  await until('the chain is live', async () =>
    (await sluice.listChains()).every(({ state }) => state === 'live'),
  );
  visitor = await startVisitor({ url: service.url, apiKey: API_KEY });
  stops.push(() => visitor.stop());
});

afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

afterEach(() => visitor.leave());

test('a name among the addresses resolves and is replaced by its address', async () => {
  const page = await visitor.signedIn('/streams/new');
  const addresses = page.getByLabel('Addresses', { exact: true });
  await addresses.fill('Treasury.eth\nnobody.eth');
  await page.getByText('nobody.eth does not resolve to an address').waitFor();
  await page.getByText('treasury.eth →').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Watch this address' }).click();
  expect(await addresses.inputValue()).toBe(`${TREASURY}, treasury.eth\nnobody.eth`);
  await page.getByText('1 address', { exact: true }).waitFor();
  visitor.expectComplaints((text) => text.includes('404'));
});

test('the palette resolves a pasted name and offers actions for it', async () => {
  const page = await visitor.signedIn('/');
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Search and commands' });
  await palette.getByRole('combobox').fill('nobody.eth');
  await palette.getByText('nobody.eth does not resolve to an address').waitFor();
  visitor.expectComplaints((text) => text.includes('404'));
  await palette.getByRole('combobox').fill('treasury.eth');
  await palette.getByText('Recognized: ENS name, 0x71c7…976f').waitFor();
  await expectAccessible(page);
  await palette.getByRole('option', { name: 'Find streams that watch this address' }).click();
  await page.getByText(`treasury.eth is ${TREASURY}`).waitFor();

  await page.keyboard.press('Control+k');
  await palette.getByRole('combobox').fill('treasury.eth');
  await palette.getByRole('option', { name: 'Create a stream for this address' }).click();
  const addresses = page.getByLabel('Addresses', { exact: true });
  await addresses.waitFor();
  expect(await addresses.inputValue()).toBe(`${TREASURY}, treasury.eth`);
});
