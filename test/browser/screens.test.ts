/**
 * Tests the main task of each screen against the real service, and the accessibility of the screen.
 */
import { readFile } from 'node:fs/promises';
import { createSluiceClient } from '@sluice/kit/sluice';
import { toFixtureName } from '@sluice/kit/operator';
import { signedHeaders } from '@sluice/kit/testing';
import { aptosDevAccounts, until } from '@sluice/testkit';
import type { Locator, Page } from 'playwright-core';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import {
  expectAccessible,
  expectContrast,
  expectFocusSeen,
  expectNoSidewaysScroll,
  PHONE,
  rowsOf,
  smallTargets,
} from './visitor.ts';
import { CONFIRMATIONS, startWorld } from './world.ts';

const world = useRunning(startWorld);
const visitor = useVisitor(world);
let stream: { id: string };

beforeAll(async () => {
  stream = await world.createStream('whale-usdt');
  await world.transfer();
  // The dry run derives rates from block timestamps, so some of them must differ.
  await nextSecond();
  for (let count = 0; count < 2; count++) await world.transfer();
  await world.mine(CONFIRMATIONS);
});

afterEach(() => world.respondWith(200));

/** Waits for the next second, because block timestamps are whole seconds. */
async function nextSecond(): Promise<void> {
  const second = () => Math.floor(Date.now() / 1_000);
  const begun = second();
  await until('the next second has begun', () => second() > begun);
}

async function endDryRun(page: Page): Promise<void> {
  const dryRun = page.getByRole('region', { name: 'Dry run' });
  await dryRun.getByText(/^last \d+ blocks/).waitFor();
  await dryRun.getByText(/\d left$/).waitFor({ state: 'detached' });
}

test('header and tab title show the environment', async () => {
  const page = await visitor.signedIn();
  await page.getByRole('banner').getByText('prod', { exact: true }).waitFor();
  await expect.poll(() => page.title()).toMatch(/Streams · Sluice prod$/);
});

test('a useful stream takes two actions: paste, and Ctrl Enter', async () => {
  const page = await visitor.signedIn();
  await page.keyboard.press('n');
  await page.getByLabel('Addresses', { exact: true }).waitFor();
  await page.keyboard.insertText(`${world.token}, token`);
  const dryRun = page.getByRole('region', { name: 'Dry run' });
  await dryRun.getByText(/\d+ records? in \d+ of/).waitFor();
  await dryRun.getByText('1.25 SLD').first().waitFor();
  await dryRun
    .getByText(/≈ [\d,.]+ records per day, ≈ [\d,.]+ webhooks per day \(sent twice/)
    .waitFor();
  await page.keyboard.press('Control+Enter');
  await page.waitForURL(/\/streams\/[0-9a-f-]{36}$/);
  await page.getByRole('link', { name: 'Addresses', exact: true }).click();
  await page.getByText('token', { exact: true }).waitFor();
});

test('an example of the chain fills in an address', async () => {
  const page = await visitor.signedIn('/streams/new');
  await page.getByRole('button', { name: 'First account on Local chain' }).click();
  await expect
    .poll(() => page.getByLabel('Addresses', { exact: true }).inputValue())
    .toMatch(/^0xf39F/);
  expect(await page.getByText('For example').count()).toBe(0);
  await page
    .getByRole('region', { name: 'Dry run' })
    .getByText(/\d+ records? in/)
    .waitFor();
  await page.getByLabel('Addresses', { exact: true }).fill('');
  await page.getByRole('button', { name: 'Aptos', exact: true }).click();
  await page.getByRole('button', { name: 'payments on Aptos, local' }).click();
  await expect
    .poll(() => page.getByRole('textbox', { name: 'Functions' }).inputValue())
    .toBe('0x1::aptos_account::transfer');
});

test('a dry run shows close matches of a filter', async () => {
  const page = await visitor.signedIn('/streams/new');
  await page.getByLabel('Addresses', { exact: true }).fill(world.token);
  await page.getByRole('button', { name: 'ERC-20 transfer' }).click();
  await page.getByRole('button', { name: 'Add condition' }).click();
  const value = page.getByLabel('Value', { exact: true });
  // Amounts are entered and shown in the token's unit.
  await page.getByPlaceholder('1,000').waitFor();
  await value.fill('2');
  const close = page.getByRole('region', { name: 'Close matches' });
  await close.getByText(/\d+ Transfer/).waitFor();
  await close.getByText(/^value [\d.]+ SLD/).waitFor();
  await close.getByText('not at least 2 SLD').waitFor();
});

test('each event shows how often the addresses emitted it, and observed ones can be selected', async () => {
  const page = await visitor.signedIn('/streams/new');
  const addresses = page.getByLabel('Addresses', { exact: true });
  await addresses.fill(world.token);
  const events = page.getByRole('group', { name: 'Events' });
  const rowOf = (name: string) => events.getByRole('listitem').filter({ hasText: name });
  const transfers = rowOf('Transfer').getByText(/^[1-9]\d* in \d+ blocks$/);
  await endDryRun(page);
  const counts = await transfers.innerText();
  await events.getByText('If you select no events, all events are sent.').waitFor();
  expect(await rowOf('Transfer').getByRole('checkbox').isChecked()).toBe(false);
  await expectAccessible(page);

  // Selecting an event adds its ABI, which has the fields to filter by, and keeps the counts.
  const check = rowOf('Transfer').getByRole('checkbox');
  await check.focus();
  await page.keyboard.press('Space');
  const condition = rowOf('Transfer').getByRole('button', { name: 'Add condition' });
  await condition.waitFor();
  expect(await check.evaluate((box) => box === document.activeElement)).toBe(true);
  // An empty condition is not an error of the dry run.
  await condition.click();
  expect(await transfers.innerText()).toBe(counts);
  await page.getByRole('button', { name: 'ERC-20 approval' }).click();
  await rowOf('Approval')
    .getByText(/^0 in \d+ blocks$/)
    .waitFor();

  // Changed addresses restart the counts.
  await addresses.fill(`0x${'12'.repeat(20)}`);
  await rowOf('Transfer')
    .getByText(/^0 in \d+ blocks$/)
    .waitFor();
});

test('each Aptos path shows how often the addresses used it, and ticking it adds a line', async () => {
  const page = await visitor.signedIn('/streams/new');
  await page.getByRole('button', { name: 'Aptos', exact: true }).click();
  await page.getByLabel('Addresses', { exact: true }).fill(aptosDevAccounts.join('\n'));
  const none = page.getByText(
    'Without functions or events, all transactions of the addresses are sent.',
  );
  await none.waitFor();
  const events = page.getByRole('group', { name: 'Move events' });
  await events.getByText('0x1::transaction_fee::FeeStatement').waitFor();
  const functions = page.getByRole('group', { name: 'Functions' });
  const text = functions.getByRole('textbox');
  const first = functions.getByRole('checkbox').first();
  const name = await functions.getByRole('listitem').first().locator('[data-tip]').innerText();
  const path = (await functions.locator('[data-tip]').first().getAttribute('data-tip')) ?? '';
  expect(path.endsWith(name.slice(name.indexOf('::')))).toBe(true);
  await endDryRun(page);
  await expectAccessible(page);

  // Selecting a function keeps the counts, to which newer blocks may be added meanwhile.
  const row = functions.getByRole('listitem').filter({ hasText: name });
  const occurrences = row.getByText(/^[1-9]\d* in \d+ blocks?$/);
  const blocks = async () => Number(/in (\d+)/.exec(await occurrences.innerText())?.[1]);
  const before = await blocks();
  await row.getByRole('checkbox').focus();
  await page.keyboard.press('Space');
  await expect.poll(() => text.inputValue()).toBe(path);
  expect(await none.count()).toBe(0);
  expect(await first.isChecked()).toBe(true);
  expect(await first.evaluate((box) => box === document.activeElement)).toBe(true);
  expect(await blocks()).toBeGreaterThanOrEqual(before);

  // Unchecking a function removes its line, and leaves the other lines unchanged.
  await text.fill(` 0x1::m::waited_for\n${path}`);
  const waited = functions.getByRole('listitem').filter({ hasText: 'waited_for' });
  await waited.getByText(/^0 in \d+ blocks?$/).waitFor();
  await row.getByRole('checkbox').uncheck();
  expect(await text.inputValue()).toBe(' 0x1::m::waited_for');
  await occurrences.waitFor();
  // Unchecking a path that was not observed removes it from the list.
  await waited.getByRole('checkbox').click();
  expect(await text.inputValue()).toBe('');
  await none.waitFor();

  await page.setViewportSize(PHONE.viewport);
  await expectNoSidewaysScroll(page);
});

test('a stream without deliveries shows the block it waits for, and next steps', async () => {
  const { id } = await world.client.streams.create({
    webhookUrl: world.webhookUrl,
    description: 'Nothing happens here',
    tag: 'silent',
    chainIds: ['0x7a69'],
    includeNativeTxs: true,
  });
  const page = await visitor.signedIn(`/streams/${id}`);
  await page.getByText('no addresses yet, so it matches nothing').waitFor();
  await page.getByRole('link', { name: 'Add addresses' }).waitFor();
  await world.client.streams.addAddress(id, `0x${'51'.repeat(20)}`);
  await page.getByText(/^Waiting for block [\d,]+/).waitFor();
  // Only blocks with a timestamp after the creation of the stream are reported.
  await nextSecond();
  await world.mine(1);
  await page.getByText(/^[\d, ]+: 0 webhooks$/).waitFor();
  await page.getByRole('button', { name: 'Send test webhook' }).click();
  await page.getByText('The receiver responded to the test webhook with 2xx.').waitFor();
  await page.getByRole('link', { name: 'Dry-run recent blocks' }).click();
  await page.getByRole('region', { name: 'Dry run' }).waitFor();
  // The metrics show the same message, and each chart is empty.
  await page.getByRole('link', { name: 'metrics' }).click();
  const metrics = page.getByRole('region', { name: 'Metrics' });
  await metrics.getByText(/^Waiting for block [\d,]+/).waitFor();
  await expect.poll(() => metrics.getByText('no data yet').count()).toBe(5);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await metrics.getByText('The stream is paused').waitFor();
  await metrics.getByRole('button', { name: 'Resume stream' }).click();
  await metrics.getByText(/^Waiting for block [\d,]+/).waitFor();
  // Leaves the page, so that it does not request the stream after its deletion.
  await page.goto('about:blank');
  await world.client.streams.delete(id);
});

test('a name with right-to-left characters does not reorder the text around it', async () => {
  const tag = '\u202egnp.eciovni';
  const { id } = await world.client.streams.create({
    webhookUrl: world.webhookUrl,
    description: tag,
    tag,
    chainIds: ['0x7a69'],
    includeNativeTxs: true,
  });
  const page = await visitor.signedIn(`/streams/${id}?tab=settings`);
  await page.getByRole('button', { name: 'Delete stream' }).click();
  const label = page.getByText(/^Type .* to confirm$/);
  await label.waitFor();
  // Left edges of the words, in the order of the text. The edges ascend unless the name reorders
  // the text.
  const edges = await label.evaluate((element) => {
    const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode()!;
    return ['Type', 'gnp.eciovni', 'to', 'confirm'].map((word) => {
      const range = document.createRange();
      const at = text.nodeValue!.indexOf(word);
      range.setStart(text, at);
      range.setEnd(text, at + word.length);
      return range.getBoundingClientRect().left;
    });
  });
  expect(edges).toEqual(edges.toSorted((a, b) => a - b));
  // Outside the label, a separate element isolates the direction of the name.
  const heading = page.getByRole('heading', { name: 'gnp.eciovni' }).first();
  await heading.waitFor();
  expect(
    await page
      .locator('span')
      .first()
      .evaluate((span) => getComputedStyle(span).unicodeBidi),
  ).toBe('isolate');
  // The name is typed as it appears, without the control character.
  await page.getByLabel(/^Type/).fill('gnp.eciovni');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete stream' }).click();
  await page.waitForURL(/\/console\/$/);
  // The live event of the deletion may arrive before the response, and reload the stream.
  visitor.expectComplaints((text) => text.includes('404'));
});

test('invalid fields show their error, and the form keeps its input', async () => {
  const page = await visitor.signedIn('/streams/new');
  await page.getByLabel('Addresses', { exact: true }).fill('0x12');
  await page.getByText('An EVM address has 40 digits, not 2').waitFor();
  await page.getByLabel('Webhook URL').fill('ftp://example');
  const deliver = page.getByRole('region', { name: 'Deliver' });
  await deliver.getByText('Enter a valid URL that starts with http').waitFor();
  await page.getByLabel('Webhook URL').fill('http://127.0.0.1:1025/');
  await page.getByLabel('Addresses', { exact: true }).fill(world.token);
  await page.getByRole('button', { name: /Create stream/ }).click();
  await page.getByText("Couldn't create the stream").waitFor();
  await page.getByText(/Could not POST/).waitFor();
  expect(await page.getByLabel('Addresses', { exact: true }).inputValue()).toBe(world.token);
  visitor.expectComplaints((text) => text.includes('400'));
});

test('a stream is created that a program reads as a feed', async () => {
  const page = await visitor.signedIn('/streams/new');
  await page.getByLabel('Addresses', { exact: true }).fill(world.token);
  await page.getByLabel('Tag').fill('fed');
  await page.getByLabel('Destination').getByRole('button', { name: 'Feed' }).click();
  await page.getByText('Your program reads the webhooks from this service').waitFor();
  await page.getByRole('button', { name: /Create stream/ }).click();
  await page.getByRole('heading', { name: 'fed' }).waitFor();
  const id = new URL(page.url()).pathname.split('/').at(-1)!;
  const stream = await world.client.streams.get(id);
  expect(stream.webhookUrl).toBe('sluice://feed');
  await world.client.streams.delete(id);
});

test('an Aptos stream is created from a Move path', async () => {
  const page = await visitor.signedIn(
    `/streams/new?event=${encodeURIComponent('0x1::aptos_account::transfer')}`,
  );
  await page.getByRole('checkbox', { name: 'Aptos, local' }).waitFor();
  await page.getByLabel('Tag').fill('payments');
  await page.getByLabel('Destination').getByRole('button', { name: 'Webhook' }).click();
  const dryRun = page.getByRole('region', { name: 'Dry run' });
  await dryRun
    .getByText(/record/)
    .first()
    .waitFor();
  const more = dryRun.getByRole('button', { name: /^Check \d+ more$/ });
  await more.click();
  await more.or(dryRun.getByRole('button', { name: 'Stop' })).waitFor({ state: 'detached' });
  expect(await dryRun.getByText('The dry run stopped').count()).toBe(0);
  await page.getByRole('button', { name: /Create stream/ }).click();
  await page.getByRole('heading', { name: 'payments' }).waitFor();
  const row = rowsOf(page).filter({ hasText: 'delivered' }).first();
  await row.getByRole('link').click();
  const delivery = page.getByRole('region', { name: /^Delivery / });
  // The delivery shows the transfer of a payment or, if the payment failed, `false`.
  await delivery
    .getByText('Coin transfer')
    .or(delivery.getByText('false', { exact: true }))
    .first()
    .waitFor();
});

test('events are selected from an ABI and filtered; changes show before they are saved', async () => {
  const page = await visitor.signedIn(`/streams/${stream.id}?tab=rules`);
  await page.getByRole('button', { name: 'ERC-20 approval' }).click();
  await page.getByRole('checkbox', { name: /^Approval/ }).waitFor();
  const approval = page.getByRole('listitem').filter({ hasText: 'Approval' });
  await approval.getByRole('button', { name: 'Add condition' }).click();
  await approval.getByLabel('Value', { exact: true }).fill('1000000');
  await page.getByLabel('Changes').getByText('where value at least 1,000,000').waitFor();
  await page.getByRole('button', { name: 'Save 1 change' }).click();
  await expect.poll(async () => (await world.client.streams.get(stream.id)).topic0).toHaveLength(2);
  const saved = await world.client.streams.get(stream.id);
  expect(saved.advancedOptions).toEqual([
    { topic0: 'Approval(address,address,uint256)', filter: { gte: ['value', '1000000'] } },
  ]);
});

test('valid lines are added, and invalid ones show the error and its position', async () => {
  const page = await visitor.signedIn('/streams/new');
  const field = page.getByLabel('Add by signature, ABI or address');
  await field.pressSequentially('Ping(adress');
  // Unfinished input shows no error.
  expect(await page.getByText(/^Line 1/).count()).toBe(0);
  await field.fill('Ping(adress)\nPong()\nTransfer(address');
  await page.getByText('“adress” is not a valid type. Did you mean address?').waitFor();
  await page.getByText('A closing parenthesis is missing at the end.').waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  await page.getByText('2 lines with errors').waitFor({ state: 'attached' });
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Add events' }).click();
  await page.getByRole('checkbox', { name: /^Pong/ }).waitFor();
  expect(await field.inputValue()).toBe('Ping(adress)\nTransfer(address');
  // The error links to its position and selects the invalid text, so that typing replaces it.
  await page.getByRole('button', { name: 'Line 1, column 6' }).click();
  await page.keyboard.insertText('address');
  expect(await field.inputValue()).toBe('Ping(address)\nTransfer(address');
  await page.getByRole('button', { name: 'Line 2, column 17' }).click();
  await page.keyboard.insertText(')');
  await page.getByText(/^Line \d/).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Add events' }).click();
  await page.getByRole('checkbox', { name: /^Transfer/ }).waitFor();
  expect(await field.inputValue()).toBe('');
});

test('events of a verified contract are selected by its address', async () => {
  const page = await visitor.signedIn('/streams/new');
  await page.getByLabel('Addresses', { exact: true }).fill(`${world.token}, dollar`);
  await page.getByText(/: Sluice Dollar \(SLD\), 6 decimals$/).waitFor();
  await page.getByRole('button', { name: 'Add all events of dollar' }).click();
  await page.getByRole('checkbox', { name: /^Transfer/ }).waitFor();
  await page.getByRole('checkbox', { name: /^Approval/ }).uncheck();
  const field = page.getByLabel('Add by signature, ABI or address');
  await field.fill(`0x${'12'.repeat(20)}`);
  await page.getByRole('button', { name: 'Add events' }).click();
  await page.getByText(/has no verified contract at 0x1212/).waitFor();
  visitor.expectComplaints((text) => /\b404\b/.test(text));
});

test('triggers and balances are added; errors of form and service show at their field', async () => {
  const { id } = await world.createStream('reads');
  const page = await visitor.signedIn(`/streams/${id}?tab=rules`);
  await page.getByRole('button', { name: 'Add trigger' }).click();
  const trigger = page.getByRole('group', { name: 'Trigger 1' });
  await trigger.getByLabel('Contract').fill('$value');
  await trigger.getByText('should select an address: one of $contract, $from, $to').waitFor();
  await trigger.getByLabel('Contract').fill('$contract');
  await trigger.getByLabel('Call').fill('function f(uint256 n) view returns (uint256)');
  await trigger.getByLabel('n: uint256').fill('many');
  await page.getByRole('button', { name: 'Save 1 change' }).click();
  await trigger.getByText(/should be .*(integer|number)/i).waitFor();
  await trigger
    .getByLabel('Call')
    .fill('function balanceOf(address owner) view returns (uint256 left)');
  await trigger.getByLabel('owner: address').fill('$from');
  await page.getByRole('button', { name: 'Add balances' }).click();
  await page.getByRole('checkbox', { name: '$to', exact: true }).check();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Save 2 changes' }).click();
  await expect
    .poll(async () => (await world.client.streams.get(id)).getNativeBalances)
    .toEqual([{ type: 'erc20transfer', selectors: ['$from', '$to'] }]);
  expect((await world.client.streams.get(id)).triggers).toMatchObject([
    { type: 'erc20transfer', contractAddress: '$contract', inputs: ['$from'] },
  ]);
  // After a reload, the form has no unsaved changes.
  await page.reload();
  await trigger.getByLabel('owner: address').waitFor();
  expect(await page.getByRole('button', { name: /^Save/ }).count()).toBe(0);
  // Saving, and perhaps the dry run, failed with 422.
  visitor.expectComplaints((text) => text.includes('422'));
});

test('the console imports 5,000 addresses, names invalid lines, and resumes after a lost connection', async () => {
  const { id } = await world.createStream('many');
  const page = await visitor.signedIn(`/streams/${id}?tab=addresses`);
  await page.getByText('No addresses yet').waitFor();
  await page.keyboard.press('i');
  const lines = Array.from(
    { length: 5_000 },
    (_, index) => `0x${(index + 1).toString(16).padStart(40, '0')},label ${index}`,
  );
  const dialog = page.getByRole('dialog', { name: 'Import addresses' });
  await dialog.getByLabel('Choose CSV file').setInputFiles({
    name: 'addresses.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(['nobody', ...lines].join('\n')),
  });
  await dialog.getByText('1 line rejected').waitFor();
  await dialog.getByText('No address found').waitFor();
  await expectAccessible(page);
  // Only the first request succeeds. All later ones fail until the client stops retrying.
  let calls = 0;
  const lost = (url: URL): boolean => url.pathname === `/streams/evm/${id}/address`;
  await page.route(lost, (route) => (calls++ === 0 ? route.continue() : route.abort()));
  await dialog.getByRole('button', { name: 'Import 5,000 addresses' }).click();
  await dialog.getByText('Import stopped after 500 of 5,000 addresses').waitFor();
  await page.unroute(lost);
  visitor.expectComplaints((text) => text.includes('ERR_FAILED'));
  await dialog.getByRole('button', { name: 'Import the remaining 4,500 addresses' }).click();
  await dialog.getByText('5,000 addresses imported').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  const list = page.getByRole('region', { name: 'Addresses' });
  // Finds the text by its role, because the last message of the dialog stays hidden in the document
  // until screen readers announce it.
  const watched = list.getByRole('paragraph');
  await watched.filter({ hasText: /^5,000 addresses$/ }).waitFor();
  expect(await list.getByRole('row').count()).toBeLessThanOrEqual(60);
  await list
    .getByRole('button', { name: /^Remove/ })
    .first()
    .click();
  await watched.filter({ hasText: /^4,999 addresses$/ }).waitFor();
});

test('a list starts from the sample, and files can be dropped, also on a new stream', async () => {
  const { id } = await world.createStream('dropped');
  const page = await visitor.signedIn(`/streams/${id}?tab=addresses`);
  await page.getByRole('button', { name: 'Import addresses' }).click();
  const dialog = page.getByRole('dialog', { name: 'Import addresses' });
  const coming = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Download sample' }).click();
  const sample = await readFile(await (await coming).path(), 'utf8');
  const drop = (field: Locator, name: string, text: string): Promise<void> =>
    field.evaluate(
      (element, file) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([file.text], file.name, { type: 'text/csv' }));
        for (const type of ['dragenter', 'dragover', 'drop']) {
          element.dispatchEvent(new DragEvent(type, { bubbles: true, dataTransfer }));
        }
      },
      { name, text },
    );
  await drop(dialog.getByRole('textbox'), 'sample.csv', sample);
  await dialog.getByText('Read from sample.csv').waitFor();
  expect(await dialog.getByText('rejected').count()).toBe(0);
  await dialog.getByRole('button', { name: 'Import 3 addresses' }).click();
  await dialog.getByText('3 addresses imported').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('binance-14', { exact: true }).waitFor();
  // The search field appears once a separate request has returned the number of addresses.
  const find = page.getByLabel('Find addresses', { exact: true });
  await find.waitFor();
  // The search is part of the URL. It matches labels and shortened addresses.
  await page.keyboard.press('/');
  await page.keyboard.insertText('TETHER');
  const list = page.getByRole('region', { name: 'Addresses' });
  const rows = list.getByRole('row').filter({ has: page.getByRole('cell') });
  await page.getByText('1 of 3 addresses').waitFor();
  expect(await rows.count()).toBe(1);
  // The row shows when the address was added, and with which key: the key of --api-key.
  expect(await rows.getByRole('cell').allInnerTexts()).toEqual(
    expect.arrayContaining([expect.stringMatching(/^(now|\d+s ago)$/), '--api-key']),
  );
  await page.reload();
  await rows.getByText('Tether USD, the contract').waitFor();
  await find.fill('0xA0b8…eB48');
  await rows.getByText(/^0xa0b8.*eb48$/).waitFor();
  await find.fill('nobody');
  await page.getByText('No results').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Show all addresses' }).click();
  await page.getByText('binance-14', { exact: true }).waitFor();

  await page.goto(`${world.url}/console/streams/new`);
  const addresses = page.getByLabel('Addresses', { exact: true });
  await drop(addresses, 'sample.csv', sample);
  await page.getByText('3 addresses', { exact: true }).waitFor();
  expect(await addresses.inputValue()).toContain('Tether USD, the contract');
  await drop(addresses, 'long.csv', '0x1\n'.repeat(2_001));
  await page.getByText('long.csv').waitFor();
  await page.getByText('2,001 lines rejected').waitFor();
  // The existing addresses stay.
  await page.getByText('3 addresses', { exact: true }).waitFor();
});

test('past blocks are matched, and the job shows its progress', async () => {
  const page = await visitor.signedIn(`/streams/${stream.id}?tab=coverage`);
  await page.getByText('Blocks matched against this stream').waitFor();
  await page.getByLabel('From block').fill('5');
  await page.getByLabel('To block').fill('1');
  await page.getByText('The first block must not be after the last').waitFor();
  await page.getByLabel('From block').fill('1');
  await page.getByLabel('To block').fill('4');
  await page.getByRole('button', { name: 'Match 4 blocks' }).click();
  await page.getByText('done', { exact: true }).waitFor();
});

test('a stream is tested, edited and, by typing its name, deleted', async () => {
  const { id } = await world.createStream('short-lived');
  const page = await visitor.signedIn(`/streams/${id}?tab=settings`);
  const promises = page.getByRole('region', { name: 'Retries and retention' });
  await promises.getByText(/Failed attempts are retried after/).waitFor();
  await promises.getByText(/kept for 7d, others for 30d/).waitFor();
  await page.getByLabel('Description').fill('for a moment');
  await page.getByRole('button', { name: 'Save 1 change' }).click();
  await expect
    .poll(async () => (await world.client.streams.get(id)).description)
    .toBe('for a moment');
  await page.getByRole('heading', { name: 'short-lived' }).click();
  await page.keyboard.press('t');
  await page.keyboard.press('Enter');
  await page.getByText('The receiver responded to the test webhook with 2xx').waitFor();
  await page.getByRole('button', { name: 'Delete stream' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^Type short-lived/).fill('short');
  expect(await dialog.getByRole('button', { name: 'Delete stream' }).isDisabled()).toBe(true);
  await dialog.getByLabel(/^Type short-lived/).fill('short-lived');
  await dialog.getByRole('button', { name: 'Delete stream' }).click();
  await page.waitForURL(`${world.url}/console/`);
  await page.getByRole('link', { name: 'short-lived' }).waitFor({ state: 'detached' });
  await page.goto(`${world.url}/console/streams/${id}`);
  await page.getByText('Stream not found').waitFor();
  // Requests for the deleted stream fail with 404.
  visitor.expectComplaints((text) => text.includes('404'));
});

test('metrics show responses, chains and record types, with changes made meanwhile', async () => {
  const { id } = await world.createStream('counted');
  world.respondWith(503);
  await world.transfer();
  const sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  await until('its failure is counted', async () => {
    const { statuses } = await sluice.getActivityBreakdown({ streamId: id });
    return statuses.some(({ status }) => status === 503);
  });
  await world.client.streams.update(id, { tag: 'counted anew' });
  const page = await visitor.signedIn(`/streams/${id}?tab=metrics&span=hour`);
  await page.getByRole('button', { name: 'Hour', pressed: true }).waitFor();
  await page.getByRole('img', { name: '0 % of attempts succeeded' }).waitFor();
  // The chart is drawn even if it has only failures. Its line has the label "ok".
  await page.getByText('ok', { exact: true }).waitFor();
  await page.locator('summary', { hasText: 'Show as table' }).click();
  // The retry after five seconds may be in the next minute.
  const shares = page.locator('details').getByRole('cell', { name: '0 %', exact: true });
  await shares.first().waitFor();
  const byResponse = page.getByRole('region', { name: 'By response' });
  await byResponse.getByRole('link', { name: '503' }).waitFor();
  const chains = page.getByRole('region', { name: 'By chain' });
  await chains.getByRole('row', { name: /Local|0x7a69/ }).waitFor();
  await page
    .getByRole('region', { name: 'By record type' })
    .getByText('Transfer', { exact: true })
    .waitFor();

  const changes = page.getByRole('region', { name: 'Changes' });
  await changes.getByText('edited tag by --api-key').waitFor();
  await changes.getByText('created', { exact: true }).waitFor();
  // Selects the last step or the one before it, whichever contains the change made above.
  const beneath = page.getByText('edited tag by --api-key');
  await page.getByRole('slider', { name: 'Time', exact: true }).focus();
  // The change appears in the list, as a label in the charts, and for the selected step.
  await page.keyboard.press('End');
  const isInLast = await beneath
    .nth(2)
    .waitFor({ timeout: 2_000 })
    .then(
      () => true,
      () => false,
    );
  if (!isInLast) await page.keyboard.press('ArrowLeft');
  await expect.poll(() => beneath.count()).toBe(3);

  await page.getByRole('button', { name: 'Week' }).click();
  await page.waitForURL(/tab=metrics&span=week$/);
  await byResponse.getByRole('link', { name: '503' }).click();
  await page.waitForURL(/\?status=%22503%22$/);
  await page
    .getByText(/^Transfer /)
    .first()
    .waitFor();
});

test('a delivery has its own page, and one key replays it from there', async () => {
  const labels = { [world.token]: 'house money' };
  await world.client.streams.addAddress(stream.id, world.token, { labels });
  const sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  // Deliveries of a backfill have no pair, because they are sent only once, as confirmed.
  const findPaired = async () => {
    const listed = await sluice.listDeliveries({ streamId: stream.id, phase: 'confirmed' });
    const details = await Promise.all(listed.result.map((each) => sluice.getDelivery(each.id)));
    return details.find(({ pair }) => pair !== null)?.id;
  };
  await expect.poll(findPaired).toBeDefined();
  const page = await visitor.signedIn(`/streams/${stream.id}?sel=${await findPaired()}`);
  const inspector = page.getByRole('region', { name: /^Delivery / });
  // The label can appear twice, because the chain may have mined two transfers in one block.
  await inspector.getByText('house money', { exact: true }).first().waitFor();
  await inspector.getByText('by the current rules').waitFor();
  await page.keyboard.press('o');
  await page.waitForURL(/\/deliveries\/[0-9a-f-]{36}/);
  // The two deliveries of the match link to each other.
  await page.getByRole('link', { name: /same match, unconfirmed/ }).click();
  await page.getByRole('link', { name: /same match, confirmed/ }).click();
  await page.getByRole('link', { name: /same match, unconfirmed/ }).waitFor();
  await page.getByRole('tab', { name: /attempts 1/i }).click();
  await page.keyboard.press('r');
  await page.keyboard.press('Enter');
  await page.getByRole('tab', { name: /attempts 2/i }).waitFor();
  await page.getByRole('tab', { name: 'code', exact: true }).click();
  await page
    .getByText(/^sluice replay [0-9a-f-]{36} --to http:\/\/localhost:3000\/hooks$/)
    .waitFor();
  await page.getByRole('tab', { name: 'payload', exact: true }).click();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Fixture' }).click();
  // The file is the one that `sluice fixture save` writes and `sluice fixture run` sends.
  const id = /[0-9a-f-]{36}/.exec(page.url())![0];
  expect((await saved).suggestedFilename()).toBe(toFixtureName(await sluice.getDelivery(id)));
  expect(await readFile(await (await saved).path(), 'utf8')).toBe(await sluice.getDeliveryBody(id));
});

test("a delivery's page steps through the list it was opened from", async () => {
  const sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  const listed = { streamId: stream.id, phase: 'confirmed' } as const;
  await expect
    .poll(async () => (await sluice.listDeliveries(listed)).result.length, { timeout: 20_000 })
    .toBeGreaterThanOrEqual(3);
  const [, second, third] = (await sluice.listDeliveries(listed)).result;
  const page = await visitor.signedIn(`/streams/${stream.id}?phase=confirmed&sel=${second!.id}`);
  await page.getByRole('link', { name: 'Open as a page' }).click();
  await page.waitForURL(/\/deliveries\/[0-9a-f-]{36}/);
  await page.getByRole('link', { name: /^Older delivery/ }).waitFor();
  await page.keyboard.press('j');
  await page.waitForURL(new RegExp(`/deliveries/${third!.id}`));
  await page.getByRole('link', { name: /^Newer delivery/ }).waitFor();
  await page.keyboard.press('k');
  await page.waitForURL(new RegExp(`/deliveries/${second!.id}`));
  await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link').click();
  await page.getByRole('button', { name: 'confirmed, remove' }).waitFor();
  expect(new URL(page.url()).searchParams.get('sel')).toBe(second!.id);
});

test('a page whose code fails to load shows the error and keeps the current screen', async () => {
  const page = await visitor.signedIn('/');
  const isAway = (url: URL): boolean => /\/console\/assets\/|\/sluice\/session/.test(url.pathname);
  await page.route(isAway, (route) => route.abort());
  await page.getByRole('link', { name: 'Chains' }).click();
  const panel = page.getByRole('alert').filter({ hasText: "Couldn't show this page" });
  await panel.getByText('No response from').waitFor();
  await page.getByRole('link', { name: 'Streams' }).first().click();
  await page.getByRole('link', { name: 'whale-usdt' }).first().waitFor();
  await page.unroute(isAway);
  await page.getByRole('link', { name: 'Chains' }).click();
  await page.getByRole('heading', { name: 'Local chain' }).waitFor();
  visitor.expectComplaints((text) =>
    /ERR_FAILED|No response from|Failed to fetch dynamically/.test(text),
  );
});

test('missing pages and records show the reason and an alternative', async () => {
  const page = await visitor.signedIn('/no/such/page');
  await page.getByText('Page not found').waitFor();
  const go = (path: string): Promise<unknown> => page.goto(`${world.url}/console${path}`);
  // Version 7 UUIDs start with a timestamp. This one is from 2025, so its delivery has expired.
  const expired = '01990000-0000-7000-8000-000000000000';
  await go(`/deliveries/${expired}`);
  await page.getByText('Deleted by retention').waitFor();
  await go(`/deliveries?sel=${expired}`);
  await page.getByText('Deleted by retention').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  await go('/deliveries/nothing');
  await page.getByText('Delivery not found').waitFor();
  await go(`/replays/${expired}`);
  await page.getByText('Replay not found').waitFor();
  await go(`/streams/${stream.id}?state=quarantined`);
  await page.getByText('State:').waitFor();
  await page
    .getByRole('main')
    .getByRole('link', { name: /^delivered/ })
    .last()
    .click();
  await rowsOf(page).first().waitFor();
  // If no row is focused, `.` opens the actions of the stream.
  await go(`/streams/${stream.id}`);
  await rowsOf(page).first().waitFor();
  await page.keyboard.press('.');
  await page.getByRole('menuitem', { name: 'Send test' }).waitFor();
  visitor.expectComplaints((text) => /\b(404|422)\b/.test(text));
});

test('a link with invalid values opens its page without them', async () => {
  const page = await visitor.signedIn();
  for (const path of [
    '/?show=none&sort=size&q=',
    '/deliveries?state=none&phase=none&attempts=few&since=1y&from=x&blockFrom=-1&sel=x&unknown=1',
    `/streams/${stream.id}?tab=none&span=year&ago=x&state=none`,
  ]) {
    await page.goto(`${world.url}/console${path}`);
    await page.locator('[data-row-link]').first().waitFor();
    expect(await page.getByRole('button', { name: /, remove$/ }).count(), path).toBe(0);
  }
});

test('verify names the cause without sending anything', async () => {
  const page = await visitor.signedIn('/verify');
  await page.getByRole('button', { name: 'Load last delivery' }).click();
  await page.getByText(/The body is from delivery/).waitFor();
  await page.getByLabel('Secret or public key').fill('x');
  await page.keyboard.press('Control+Enter');
  await page.getByText('Paste webhook-timestamp and webhook-signature').waitFor();
  const body = '{"confirmed":true,"logs":[],"block":{"number":"1"}}';
  const headers = Object.entries(signedHeaders(body, { secret: world.secret }))
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
  await page.getByLabel('Secret or public key').fill(world.secret);
  await page.getByLabel('Headers').fill(headers);
  await page.getByLabel('Body').fill(body);
  const changes: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') changes.push(`${request.method()} ${request.url()}`);
  });
  await page.keyboard.press('Control+Enter');
  await page.getByText('The signature is valid').waitFor();
  await page.getByLabel('Body').fill(JSON.stringify(JSON.parse(body), null, 2));
  await page.keyboard.press('Control+Enter');
  await page.getByText('body-reserialized').waitFor();
  await page.getByLabel('Body').fill(body);
  await page.getByLabel('Secret or public key').fill('another');
  await page.getByLabel('Other secrets').fill(world.secret);
  await page.keyboard.press('Control+Enter');
  await page.getByText('other-secret').waitFor();
  expect(changes).toEqual([]);
});

test('a new stream delivers to the inbox, which responds as configured', async () => {
  const page = await visitor.signedIn('/inbox');
  await world.client.streams.create({
    webhookUrl: 'sluice://inbox/default',
    description: 'transfers',
    tag: 'into-the-inbox',
    chainIds: ['0x7a69'],
    topic0: ['Transfer(address,address,uint256)'],
    allAddresses: true,
    includeContractLogs: true,
  });
  await world.transfer();
  const webhooks = page.getByRole('table', { name: 'Webhooks' });
  await webhooks.getByText('valid', { exact: true }).nth(1).waitFor();
  await webhooks
    .getByText(/^Transfer 1\.25 SLD 0x/)
    .first()
    .waitFor();
  // Streams of earlier tests also deliver here, and test webhooks have no block.
  const focusNextRow = async () => {
    await page.keyboard.press('j');
    return page.evaluate(() => document.activeElement?.closest('[role="row"]')?.textContent);
  };
  await expect.poll(focusNextRow).toMatch(/Transfer 1\.25 SLD/);
  await page.keyboard.press('Enter');
  const webhook = page.getByRole('region', { name: 'Webhook', exact: true });
  await webhook.getByText('logs', { exact: true }).first().waitFor();
  await webhook.getByRole('link', { name: /^Open block \d+ on explorer\.example/ }).waitFor();
  const timing = webhook.getByRole('figure', { name: 'Timing' });
  await timing.getByText(/ after the block$/).waitFor();
  await timing.getByRole('button', { name: 'Show as table' }).click();
  await timing.getByRole('row', { name: /^Attempt 1, 200 / }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press(']');
  await webhook.getByText('webhook-signature').waitFor();
  await page.keyboard.press(']');
  await webhook.getByText('Keccak-256 of this body').waitFor();
  await page.keyboard.press('.');
  await page.getByRole('menu', { name: 'Webhook' }).getByText('Copy as curl').waitFor();
  await page.keyboard.press('Escape');
  // The view is part of the URL.
  await page.waitForURL(/\/inbox\/default\?sel=[0-9a-f-]{36}&view=signature$/);
  await page.reload();
  await webhook.getByText('Keccak-256 of this body').waitFor();
  await page.getByRole('button', { name: 'Set response' }).click();
  const form = page.getByRole('form', { name: 'Response of default' });
  await form.getByLabel('Status', { exact: true }).fill('99');
  await form.getByText('Enter a whole number from 200 to 599.').waitFor();
  await form.getByRole('button', { name: 'Fail every 3rd' }).click();
  await form.getByLabel('Delay (ms)').fill('20');
  await form.getByText('Responds with 200 · 500 to every 3rd request').waitFor();
  await expectAccessible(page);
  await form.getByRole('button', { name: 'Save response' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByText('Responds with 200 · 500 to every 3rd request · delay 20 ms').waitFor();
  await world.transfer();
  await page.keyboard.press('Escape');
  await webhook.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Clear default' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Delete \d+ webhook/ })
    .click();
  await page.getByText('No webhooks yet.').or(webhooks.getByText('valid').first()).waitFor();
  // Later tests need the inbox to respond with 200.
  await createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey }).setInbox('default');
});

test('all failures of an outage are replayed in three actions', async () => {
  const { id } = await world.createStream('outage');
  world.respondWith(500);
  await world.transfer();
  const page = await visitor.signedIn(`/streams/${id}`);
  await page
    .getByText(/^retry (in|due)/)
    .first()
    .waitFor();
  // The buttons to stop or speed up the next attempt are next to its time.
  await rowsOf(page).first().getByRole('link').click();
  const inspector = page.getByRole('region', { name: /^Delivery / });
  await inspector.getByText(/^(then \+|last attempt)/).waitFor();
  await inspector.getByRole('button', { name: 'Stop retrying' }).waitFor();
  await inspector.getByRole('button', { name: 'Retry now' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: /^5xx/ }).click();
  await page.getByRole('button', { name: 'Replay…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Replay deliveries' });
  const replay = dialog.getByRole('button', { name: /^Replay \d+ deliver/ });
  await replay.waitFor();
  // The receiver recovers only now, so that no automatic retry succeeds before the replay.
  world.respondWith(200);
  await replay.click();
  await page.waitForURL(/\/replays\/[0-9a-f-]{36}$/);
  await page.getByText('done', { exact: true }).waitFor();
  const sent = page.getByRole('navigation', { name: 'Replayed deliveries' });
  await sent.getByRole('link', { name: /^delivered [1-9]/ }).click();
  await rowsOf(page).getByText('delivered').first().waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Replays' }).first().click();
  await page.getByRole('table', { name: 'Replays' }).getByText('done').waitFor();
  await expectAccessible(page);
});

test('explain shows for each stream what happened to a transaction, and why', async () => {
  const page = await visitor.signedIn('/explain');
  await page.getByText('Why was a webhook sent').waitFor();
  // Explains an old block, whose webhooks have all arrived.
  const { result } = await world.client.history.logs({ streamId: stream.id, limit: 100 });
  await page.getByLabel('Transaction, block, address').fill(String(result.at(-1)?.blockNumber));
  await page.keyboard.press('Enter');
  await page.waitForURL(/[?&]q=/);
  // Both chains have a block at this height, so the chain must be selected.
  await page.getByLabel('Chain', { exact: true }).selectOption({ label: 'Local chain' });
  const verdicts = page.getByRole('list', { name: 'Streams' });
  const verdict = verdicts.locator(':scope > li').filter({ hasText: 'whale-usdt' }).first();
  await verdict.getByText('whale-usdt').first().click();
  await verdict.getByText('in the webhook').first().waitFor();
  await expectAccessible(page);
  await verdict
    .getByRole('link', { name: /confirmed,/ })
    .first()
    .click();
  await page.waitForURL(/\/deliveries\/[0-9a-f-]{36}/);
  const [, id = ''] = /deliveries\/([0-9a-f-]{36})/.exec(page.url()) ?? [];
  await page.getByRole('link', { name: 'Explain this delivery' }).click();
  await verdicts.getByText('delivered').first().waitFor();

  // An id is also found by the short forms that lists and the command line show, unless the form is
  // a block number.
  const shortForms = [id.slice(-8), `${id.slice(0, 13)}…${id.slice(-6)}`];
  for (const short of shortForms.filter((form) => !/^\d+$/.test(form))) {
    await page.getByLabel('Transaction, block, address').fill(short);
    await page.keyboard.press('Enter');
    // The address bar quotes text that could be a number.
    await page.waitForURL((url) => url.searchParams.get('q')?.includes(short) === true);
    await verdicts.getByText('delivered').first().waitFor();
    expect(await verdicts.locator(':scope > li').count()).toBe(1);
  }
  await page.getByLabel('Transaction, block, address').fill(`${id.slice(0, 4)}…`);
  await page.keyboard.press('Enter');
  await page
    .getByRole('alert')
    .getByText(/ matches \d+ deliveries, e\.g\. /)
    .waitFor();
});

test('the palette recognizes pasted text, and goes anywhere by keyboard', async () => {
  const page = await visitor.signedIn();
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Search and commands' });
  await palette.getByRole('combobox').fill(world.token);
  await palette.getByText('Recognized: EVM address').waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/streams\/new\?address=0x/);
  await palette.waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await palette.getByRole('combobox').fill('chai');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Local chain' }).getByText('healthy').waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('t');
  await page.getByRole('button', { name: 'Reveal secret' }).click();
  await page.getByText(world.secret).waitFor();
});

test('an export can be imported', async () => {
  const page = await visitor.signedIn('/settings');
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export streams' }).click();
  const file = await (await downloading).path();
  const before = (await world.client.streams.list()).total;
  await page.getByLabel('Import from a file').setInputFiles(file);
  const button = page.getByRole('button', { name: /^Import \d+ streams/ });
  // The number includes the Aptos streams in the file.
  const inFile = Number(/\d+/.exec(await button.innerText())?.[0]);
  await button.click();
  await expect.poll(() => page.getByText('created', { exact: true }).count()).toBe(inFile);
  expect(await page.getByText('failed', { exact: true }).count()).toBe(0);
  expect((await world.client.streams.list()).total).toBe(2 * before);
});

/** Lists the path of each screen, with text that appears once the data has loaded. */
async function listScreens(): Promise<[path: string, text: string][]> {
  const { result } = await createSluiceClient({
    baseUrl: world.url,
    apiKey: world.apiKey,
  }).listDeliveries({ limit: 1 });
  return [
    ['/', 'whale-usdt'],
    ['/deliveries', '200'],
    [`/deliveries/${result[0]?.id}`, 'Copy ID'],
    [`/streams/${stream.id}`, '200'],
    [`/streams/${stream.id}?tab=addresses`, 'Import'],
    [`/streams/${stream.id}?tab=rules`, 'Dry run'],
    [`/streams/${stream.id}?tab=metrics`, 'Show as table'],
    [`/streams/${stream.id}?tab=coverage`, 'Backfills'],
    [`/streams/${stream.id}?tab=settings`, 'Delete stream'],
    ['/streams/new', 'Create stream'],
    ['/explain', 'Why was a webhook sent'],
    [`/addresses/${world.token}`, 'Last seen'],
    ['/inbox', 'sluice://inbox'],
    ['/replays', 'Replay'],
    ['/chains', 'No gaps.'],
    ['/verify', 'Other secrets'],
    ['/settings', 'next run'],
    ['/settings/audit', 'intact'],
    ['/settings/api', 'Base URL'],
    ['/settings/api?call=createEvmStream', 'Try it'],
  ];
}

test('every screen is accessible in both themes', async () => {
  const page = await visitor.signedIn('/', { colorScheme: 'dark' });
  for (const [path, text] of await listScreens()) {
    await page.goto(`${world.url}/console${path}`);
    await page.getByText(text).or(page.getByLabel(text)).first().waitFor();
    await expectAccessible(page);
    await page.evaluate(() => void (document.documentElement.dataset['theme'] = 'light'));
    await expectContrast(page);
  }
});

test('every screen fits a phone, with touch targets of sufficient size', async () => {
  const page = await visitor.signedIn('/', PHONE);
  for (const [path, text] of await listScreens()) {
    await page.goto(`${world.url}/console${path}`);
    await page.getByText(text).or(page.getByLabel(text)).first().waitFor({ state: 'attached' });
    await expectNoSidewaysScroll(page);
    expect(await smallTargets(page), path).toEqual([]);
  }
});

test('every screen fits a window of 1280 px at a zoom of 200 %', async () => {
  const zoomed = { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 };
  const page = await visitor.signedIn('/', zoomed);
  for (const [path, text] of await listScreens()) {
    await page.goto(`${world.url}/console${path}`);
    await page.getByText(text).or(page.getByLabel(text)).first().waitFor({ state: 'attached' });
    await expectNoSidewaysScroll(page);
  }
});

test('every screen shows the focus and what is current in forced colors', async () => {
  const page = await visitor.signedIn('/', { forcedColors: 'active' });
  for (const [path, text] of await listScreens()) {
    await page.goto(`${world.url}/console${path}`);
    await page.getByText(text).or(page.getByLabel(text)).first().waitFor();
    await page.keyboard.press('Tab');
    await expectFocusSeen(page);
    const current = page
      .getByRole('navigation', { name: 'Pages' })
      .locator('[aria-current="page"]')
      .first();
    const outline = await current.evaluate((link) => getComputedStyle(link).outlineStyle);
    expect(outline, path).not.toBe('none');
  }
});

test('a dry run searches further back, can be stopped and resumed, and ends at the first block', async () => {
  await world.mine(40);
  const page = await visitor.signedIn('/streams/new');
  await page.getByLabel('Addresses', { exact: true }).fill(world.token);
  const dryRun = page.getByRole('region', { name: 'Dry run' });
  await dryRun.getByText('No matches in the last 24 blocks.').waitFor();
  const more = dryRun.getByRole('button', { name: /^Check \d+ more$/ });
  let requests = 0;
  await page.route('**/dry-run', async (route) => {
    // Requests after the third stay pending, so that the run can be stopped.
    if (++requests <= 3) await route.continue();
  });
  await more.click();
  await dryRun.getByText(/in \d+ of 27 blocks/).waitFor();
  await dryRun.getByRole('button', { name: 'Stop' }).click();
  await dryRun.getByText(/^last 27 blocks/).waitFor();

  await page.unroute('**/dry-run');
  await more.click();
  await dryRun.getByText('1.25 SLD').first().waitFor();
  await dryRun.getByText(/^0 – \d+$/).waitFor();
  await dryRun.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  expect(await more.count()).toBe(0);
  const transfer = page.getByRole('listitem').filter({ hasText: 'Transfer' });
  await transfer.getByText(/^[1-9]\d* in \d+ blocks$/).waitFor();

  // Changed input starts a new run.
  await page.getByRole('checkbox', { name: /^Transactions/ }).check();
  await dryRun.getByText(/^last 24 blocks/).waitFor();
});
