/** Tests the form of values on chain, and how the inspector shows values and matched addresses. */
import { createSluiceClient } from '@sluice/kit/sluice';
import { devAccounts } from '@sluice/testkit';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import { expectAccessible, expectNoSidewaysScroll, PHONE, smallTargets } from './visitor.ts';
import { startWorld } from './world.ts';

const world = useRunning(startWorld);
const visitor = useVisitor(world);

const ACCOUNT = devAccounts[1]!.address.toLowerCase();

const sluiceOf = () => createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });

/** Waits for the first delivery of a stream, and returns its id. */
async function firstDelivery(streamId: string): Promise<string> {
  let id: string | undefined;
  await expect
    .poll(async () => {
      const { result } = await sluiceOf().listDeliveries({ streamId });
      id = result.at(-1)?.id;
      return id;
    })
    .toBeDefined();
  return id!;
}

const entryOf = (page: Page) => page.getByRole('group', { name: 'Value 1', exact: true });

test('a recipe sends the result of a function, which the inspector shows', async () => {
  const page = await visitor.signedIn('/streams/new?recipe=value');
  const entry = entryOf(page);
  const contract = entry.getByLabel('Contract');
  await expect
    .poll(() => contract.evaluate((field) => field === document.activeElement))
    .toBe(true);
  await page.keyboard.press('Control+Enter');
  await entry.getByText('Enter the address of the contract').waitFor();
  await contract.fill(world.token);
  await entry.getByText('totalSupply() of 0x').waitFor();

  // The ABI of the contract offers its view functions, with their results.
  const offered = entry.locator('datalist option').filter({ hasText: /^balanceOf/ });
  await expect.poll(() => offered.count()).toBe(1);
  await entry.getByLabel('Function').fill((await offered.textContent())!);
  const argument = entry.getByLabel(/: address$/);
  await argument.fill('alice');
  await entry.getByText('Enter an address: 0x').waitFor();
  await argument.fill(ACCOUNT);
  await entry.getByLabel('Send').selectOption('when it rises above');
  await entry.getByLabel('Threshold').fill('1,000.5');
  await entry.getByLabel('Decimals').fill('6');
  await entry.getByText('= 1,000,500,000 in the smallest unit').waitFor();
  await entry.getByText('when it rises above 1,000.5').waitFor();
  await entry.getByLabel('Decimals').fill('');
  await entry.getByLabel('Send').selectOption('when it changes');
  await expectAccessible(page);
  await page.keyboard.press('Control+Enter');
  await page.getByRole('heading', { name: 'Value changes' }).waitFor();
  const id = page.url().split('/').at(-1)!;
  expect((await world.client.streams.get(id)).reads).toEqual([
    {
      contract: world.token.toLowerCase(),
      function: expect.stringMatching(/^balanceOf\(.*\) returns \(uint256\)$/),
      arguments: [ACCOUNT],
      when: 'changes',
    },
  ]);
  await page.getByText('1 value', { exact: true }).waitFor();
  await page.getByText('Waiting for block').waitFor();
  expect(await page.getByText('no addresses').count()).toBe(0);

  // The first change after the stream has read a value is sent.
  await expect
    .poll(async () => {
      await world.transfer();
      return (await sluiceOf().listDeliveries({ streamId: id })).result.length;
    })
    .toBeGreaterThan(0);
  const inspector = await visitor.signedIn(`/deliveries/${await firstDelivery(id)}`);
  await inspector.getByRole('heading', { name: 'balanceOf' }).waitFor();
  await inspector.getByText('when it changes').waitFor();
  const values = await inspector.locator('dl').filter({ hasText: 'before' }).innerText();
  expect(values).toMatch(
    /before\s+(\d+)\s+[\d,]+ in block \d+\s+after\s+(?!\1\s)\d+\s+[\d,]+ in block \d+/,
  );
  await expectAccessible(inspector);
});

test('a threshold is in the unit of the token, and its errors are at their fields', async () => {
  const page = await visitor.signedIn('/streams/new?recipe=balance');
  const entry = entryOf(page);
  await page.getByLabel('Addresses', { exact: true }).fill(ACCOUNT);
  await entry.getByLabel('Read').selectOption('token balances');
  await entry.getByLabel('Token', { exact: true }).fill(world.token);
  await entry.getByText('Sluice Dollar (SLD), 6 decimals').waitFor();
  await entry.getByLabel('Threshold in SLD').fill('many');
  await entry.getByText('Enter a number, such as 1,000.5.').waitFor();
  await entry.getByLabel('Threshold in SLD').fill('1,000.5');
  await entry
    .getByText('SLD balance of the stream’s addresses when it falls below 1,000.5 SLD')
    .waitFor();
  await entry.getByLabel('Accounts').fill('alice\n');
  await entry.getByText('Line 1: “alice” is not an address').waitFor();
  await entry.getByLabel('Accounts').fill(ACCOUNT);
  // The service rejects what the form does not know, and the error is at its field.
  await page.getByRole('button', { name: 'Add value' }).click();
  const second = page.getByRole('group', { name: 'Value 2', exact: true });
  await second.getByLabel('Contract').fill(world.token);
  await second.getByLabel('Function').fill('a(uint8 x) returns (uint256)');
  await second.getByLabel('x: uint8').fill('300');
  await page.keyboard.press('Control+Enter');
  await second.getByText('an integer that fits uint8').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Remove value 2' }).click();
  await page.keyboard.press('Control+Enter');
  await page.getByRole('heading', { name: /^Balance/ }).waitFor();
  // The dry run of the second value was rejected too.
  visitor.expectComplaints((text) => text.includes('422'));
  const id = page.url().split('/').at(-1)!;
  expect((await world.client.streams.get(id)).reads).toEqual([
    { balance: world.token.toLowerCase(), of: [ACCOUNT], when: { below: '1000.5' } },
  ]);

  const phone = await visitor.signedIn(`/streams/${id}?tab=rules`, PHONE);
  await entryOf(phone).waitFor();
  await expectNoSidewaysScroll(phone);
  expect(await smallTargets(phone)).toEqual([]);
  await expectAccessible(phone);
});

test('the inspector lists matched addresses with their labels and rules', async () => {
  const { id } = await world.client.streams.create({
    webhookUrl: world.webhookUrl,
    description: '',
    tag: 'labeled',
    chainIds: ['0x7a69'],
    includeContractLogs: true,
    includeMatched: true,
    topic0: ['Transfer(address,address,uint256)'],
  });
  const addresses = [{ address: world.token, label: 'the dollar' }];
  await sluiceOf().importAddresses({ streamId: id, family: 'evm', addresses });
  await world.transfer();
  const page = await visitor.signedIn(`/deliveries/${await firstDelivery(id)}`);
  const matched = page.getByRole('region', { name: 'Matched addresses' });
  await matched.getByText('the dollar').waitFor();
  await matched.getByText('by event Transfer', { exact: true }).waitFor();
  await expectAccessible(page);
  // After a change to the stream, the position may mean another event.
  await world.client.streams.update(id, { topic0: ['Approval(address,address,uint256)'] });
  await page.reload();
  await matched.getByText('by event 1', { exact: true }).waitFor();
});
