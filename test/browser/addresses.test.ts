/**
 * Tests bulk changes to a stream's addresses: selection, removal, undo, labels, import and export.
 */
import { readFile } from 'node:fs/promises';
import { createSluiceClient } from '@sluice/kit/sluice';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import {
  countActions,
  expectAccessible,
  expectNoSidewaysScroll,
  PHONE,
  rowsOf,
  smallTargets,
} from './visitor.ts';
import { startWorld } from './world.ts';

const world = useRunning(startWorld);
const visitor = useVisitor(world);

const evmAddress = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;
const sluiceOf = () => createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });

/** Returns the addresses of a stream, each followed by its label. */
async function listed(id: string): Promise<string[]> {
  const rows: string[] = [];
  for await (const { address, label } of sluiceOf().listAddresses(id)) {
    rows.push(`${address} ${label ?? ''}`);
  }
  return rows;
}

async function openList(id: string, options = {}): Promise<Page> {
  const page = await visitor.signedIn(`/streams/${id}?tab=addresses`, options);
  await rowsOf(page).first().waitFor();
  return page;
}

test('9,993 wrong addresses are removed in three actions, and restored with their labels', async () => {
  const { id } = await world.createStream('wrong');
  const addresses = Array.from({ length: 10_000 }, (_, n) => ({
    address: evmAddress(n + 1),
    label: n < 7 ? `right ${n}` : n % 2 === 0 ? 'wrong' : `wrong ${n}`,
  }));
  await sluiceOf().importAddresses({ streamId: id, family: 'evm', addresses });
  const before = await listed(id);
  const page = await openList(id);
  const countOf = await countActions(page);
  await page.getByLabel('Find addresses', { exact: true }).fill('wrong');
  await page.getByRole('button', { name: 'Select all results' }).click();
  await page.getByRole('button', { name: 'Remove 9,993 addresses' }).click();
  await page.getByText('9,993 addresses removed.').waitFor();
  expect(await countOf()).toEqual({ clicks: 2, keys: 0, texts: 1 });
  expect(await listed(id)).toEqual(before.slice(0, 7));
  await page.getByText('No results').waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('9,993 addresses restored.').waitFor();
  expect(await listed(id)).toEqual(before);
});

test('rows are selected by click and range, and a removal skips those that are gone', async () => {
  const { id } = await world.client.streams.create({
    webhookUrl: world.webhookUrl,
    tag: 'aptos range',
    description: 'range',
    networkType: 'aptos',
    network: ['local'],
    functions: ['0x1::coin::transfer'],
  });
  const named = ['0x11', '0x12', '0x13', '0x14', '0x15'];
  await world.client.streams.addAddress(id, named, { networkType: 'aptos' });
  const page = await openList(id);
  const boxes = page.getByRole('checkbox');
  await boxes.nth(1).click();
  await boxes.nth(3).click({ modifiers: ['Shift'] });
  await page.getByRole('button', { name: '3 selected, clear' }).waitFor();
  await boxes.nth(2).click();
  await page.getByRole('button', { name: '2 selected, clear' }).waitFor();
  await expectAccessible(page);
  await world.client.streams.removeAddress(id, '0x12', { networkType: 'aptos' });
  await page.getByRole('button', { name: 'Remove 2 addresses' }).click();
  await page.getByText('2 addresses removed.').waitFor();
  expect((await listed(id)).map((row) => Number(row.trim()))).toEqual([0x11, 0x13, 0x15]);
  visitor.expectComplaints((text) => /\b404\b/.test(text));
});

test('an import is undone exactly, with the labels it replaced', async () => {
  const { id } = await world.createStream('undone');
  const labels = { [evmAddress(1)]: 'first', [evmAddress(2)]: 'second' };
  const present = [1, 2, 3, 4].map(evmAddress);
  await world.client.streams.addAddress(id, present, { labels });
  const before = await listed(id);
  const page = await openList(id);
  await page.keyboard.press('i');
  const dialog = page.getByRole('dialog', { name: 'Import addresses' });
  const lines = [`${evmAddress(1)},other`, evmAddress(2), `${evmAddress(3)},third`, evmAddress(9)];
  await dialog.getByRole('textbox').fill(lines.join('\n'));
  await dialog.getByRole('button', { name: 'Import 4 addresses' }).click();
  await dialog.getByText('4 addresses imported').waitFor();
  expect(await listed(id)).toEqual([
    `${evmAddress(1)} other`,
    `${evmAddress(2)} second`,
    `${evmAddress(3)} third`,
    `${evmAddress(4)} `,
    `${evmAddress(9)} `,
  ]);
  await page.keyboard.press('Escape');
  await page.keyboard.press('u');
  await page.getByText('Import undone.').waitFor();
  expect(await listed(id)).toEqual(before);
});

test('labels are edited in place and removed, and all pages are exported', async () => {
  const { id } = await world.createStream('labels');
  const addresses = Array.from({ length: 250 }, (_, n) => ({ address: evmAddress(n + 1) }));
  await sluiceOf().importAddresses({ streamId: id, family: 'evm', addresses });
  const page = await openList(id);
  await page.getByRole('button', { name: `Add a label to ${evmAddress(1)}` }).click();
  await page.keyboard.insertText('=house, "money"');
  await page.keyboard.press('Enter');
  await page.getByText('Label saved.').waitFor();
  await expect.poll(async () => (await listed(id))[0]).toBe(`${evmAddress(1)} =house, "money"`);
  const coming = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  const file = await coming;
  expect(file.suggestedFilename()).toBe('labels-addresses.csv');
  const rows = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n');
  expect(rows).toHaveLength(251);
  expect(rows[0]).toBe('address,label,added,added by');
  expect(rows[1]).toMatch(/^0x0+1,"'=house, ""money""",\d{4}-.*Z,/);

  await page.getByRole('button', { name: 'Edit label =house, "money"' }).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  await page.keyboard.press('Enter');
  await page.getByText('Label removed.').waitFor();
  await expect.poll(async () => (await listed(id))[0]).toBe(`${evmAddress(1)} `);
});

test('the list fits a phone', async () => {
  const { id } = await world.createStream('phone');
  const labels = { [evmAddress(1)]: 'a label that is longer than a phone is wide, by some words' };
  await world.client.streams.addAddress(id, [1, 2].map(evmAddress), { labels });
  const page = await openList(id, PHONE);
  await page.getByRole('checkbox').first().click();
  await page.getByRole('button', { name: 'Remove 1 address' }).waitFor();
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
  await expectAccessible(page);
});
