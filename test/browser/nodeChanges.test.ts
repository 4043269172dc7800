/** Tests adding, testing and removing nodes and alert URLs in the console. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService } from '@sluice/service';
import { startScriptedChain, startWebhookSink, type WebhookSink } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  PHONE,
  expectAccessible,
  expectContrast,
  expectNoSidewaysScroll,
  smallTargets,
  startVisitor,
  type Visitor,
} from './visitor.ts';
import { buildConsole } from './world.ts';

const API_KEY = 'node_changes_test_key_0123456789';
const stops: (() => unknown)[] = [];
let visitor: Visitor;
let strict: Visitor;
let sink: WebhookSink;
let nodeUrl: string;

beforeAll(async () => {
  const consoleFolder = await buildConsole();
  const chain = await startScriptedChain();
  stops.push(() => chain.stop());
  nodeUrl = chain.url;
  sink = await startWebhookSink();
  stops.push(() => sink.close());
  const start = async (allowNodeChanges: boolean): Promise<Visitor> => {
    const dataFolder = await mkdtemp(join(tmpdir(), 'sluice-node-changes-'));
    stops.push(() => rm(dataFolder, { recursive: true }));
    const service = await startService({
      port: 0,
      host: '127.0.0.1',
      data: dataFolder,
      apiKey: API_KEY,
      consoleFolder,
      chains: [{ id: '0x7a69', urls: [chain.wsUrl], pollMs: 50 }],
      notifyUrl: `${sink.url}/configured`,
      aptos: [],
      allowPrivateEndpoints: true,
      allowNodeChanges,
    });
    stops.push(service.stop);
    const started = await startVisitor({ url: service.url, apiKey: API_KEY });
    stops.push(() => started.stop());
    return started;
  };
  visitor = await start(true);
  strict = await start(false);
});

afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

afterEach(async () => {
  await visitor.leave();
  await strict.leave();
});

test('a node is tested, added and removed, in both themes and on a phone', async () => {
  const page = await visitor.signedIn('/chains', { ...PHONE, colorScheme: 'dark' });
  await page.getByRole('button', { name: 'Add node…' }).click();
  const dialog = page.getByRole('dialog');
  const url = dialog.getByLabel('URL');

  // The URL field shows an error for a node of a different chain, until the chain or the URL
  // changes.
  await dialog.getByLabel('Chain', { exact: true }).selectOption({ label: 'Other chain' });
  await dialog.getByLabel('Chain ID').fill('0x1');
  await url.fill(nodeUrl);
  await dialog.getByRole('button', { name: 'Test' }).click();
  const refusal = dialog.getByText('The URL serves another chain');
  await refusal.waitFor();
  expect(await url.getAttribute('aria-invalid')).toBe('true');
  await dialog.getByRole('button', { name: 'Add node' }).click();
  await refusal.waitFor();
  await expectAccessible(page);
  await page.evaluate(() => void (document.documentElement.dataset['theme'] = 'light'));
  await expectContrast(page);
  await dialog.getByLabel('Chain ID').fill('0x7a69');
  await refusal.waitFor({ state: 'detached' });

  await dialog.getByRole('button', { name: 'Test' }).click();
  await dialog.getByText(/The URL responds and serves this chain \(\d+ ms\)/).waitFor();

  // The node says which chain it serves.
  await dialog.getByLabel('Chain', { exact: true }).selectOption('');
  await dialog.getByRole('button', { name: 'Test' }).click();
  await dialog.getByText(/The URL responds and serves 0x7a69 \(\d+ ms\)/).waitFor();
  await dialog.getByRole('button', { name: 'Add node' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { host } = new URL(nodeUrl);
  const remove = page.getByRole('button', { name: `Remove ${host}#2`, exact: true });
  await remove.waitFor();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);

  await remove.click();
  await page.getByText('To undo this, add the URL of the node again.').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Remove node' }).click();
  await remove.waitFor({ state: 'detached' });

  // The URL alone is enough, and its field has the focus.
  await page.getByRole('button', { name: 'Add node…' }).click();
  await url.waitFor();
  await page.keyboard.type(nodeUrl);
  await page.keyboard.press('Enter');
  await page.getByText(/^Node of .+ added$/).waitFor();
  await remove.click();
  await page.getByRole('button', { name: 'Remove node' }).click();
  await remove.waitFor({ state: 'detached' });
  visitor.expectComplaints((text) => text.includes('422'));
});

test('the form of a new stream adds a chain by the URL of its node, and selects it', async () => {
  const page = await visitor.signedIn('/streams/new', PHONE);
  const addresses = page.getByLabel('Addresses', { exact: true });
  await addresses.fill('0x70997970C51812dc3A010C7d01b50e0d17dc79C8');
  const chain = page.getByRole('group', { name: 'Chains' }).getByRole('checkbox').first();
  await chain.uncheck();
  // The form shows the problem of the empty factory once it is submitted.
  await page.getByRole('button', { name: 'Add factory' }).tap();
  await page.getByRole('button', { name: 'Add a chain by its node…' }).tap();
  await page.getByRole('dialog').getByLabel('URL').fill(nodeUrl);
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await page.getByText(/^Node of .+ added$/).waitFor();
  await expect.poll(() => chain.isChecked()).toBe(true);
  // Enter submitted the dialog, not the form.
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(new URL(page.url()).pathname).toBe('/console/streams/new');
  expect(await addresses.inputValue()).not.toBe('');
});

test('an alert URL is tested, added and removed', async () => {
  const page = await visitor.signedIn('/settings', PHONE);
  const alerts = page.getByRole('region', { name: 'Alerts' });
  await alerts.getByText('--notify-url').waitFor();
  await alerts.getByRole('button', { name: 'Add alert URL' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').fill('ops.example');
  await dialog.getByRole('button', { name: 'Add alert URL' }).click();
  await dialog.getByText('The URL should be an absolute http:// or https:// URL').waitFor();

  await dialog.getByLabel('URL').fill(`${sink.url}/alerts`);
  await dialog.getByRole('button', { name: 'Test' }).click();
  await dialog.getByText(/The URL accepted a test alert/).waitFor();
  await sink.waitFor(({ path }) => path === '/alerts');
  await dialog.getByRole('button', { name: 'Add alert URL' }).click();
  await dialog.waitFor({ state: 'detached' });
  await alerts.getByText('added', { exact: true }).waitFor();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);

  await alerts.getByRole('button', { name: /^Remove / }).click();
  await page.getByRole('button', { name: 'Remove alert URL' }).click();
  await alerts.getByText('added', { exact: true }).waitFor({ state: 'detached' });
  visitor.expectComplaints((text) => text.includes('422'));
});

test('without --allow-node-changes, nothing can be changed', async () => {
  const page = await strict.signedIn('/settings');
  const alerts = page.getByRole('region', { name: 'Alerts' });
  await alerts.getByText('start the service with --allow-node-changes').waitFor();
  expect(await alerts.getByRole('button').count()).toBe(0);
  await page.getByRole('link', { name: 'Chains' }).first().click();
  await page.getByRole('button', { name: 'Add node…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('start the service with --allow-node-changes').waitFor();
  expect(await dialog.getByRole('button', { name: 'Test' }).count()).toBe(0);
});
