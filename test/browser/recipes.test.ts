/** Tests the recipes for a new stream, and rules that are shown as sentences. */
import { devAccounts } from '@sluice/testkit';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import { expectAccessible, expectNoSidewaysScroll, PHONE, smallTargets } from './visitor.ts';
import { startWorld } from './world.ts';

const world = useRunning(startWorld);
const visitor = useVisitor(world);

beforeAll(async () => {
  for (let count = 0; count < 3; count++) await world.transfer();
});

/** Recipes for both chains of the world. */
const RECIPE_COUNT = 14;
const WALLET = devAccounts[7]!.address;

const recipesOf = (page: Page) => page.getByRole('navigation', { name: 'Recipes' });

/** Selects a recipe while a dry run is shown, which hides the recipes. */
async function selectRecipe(page: Page, title: string): Promise<void> {
  await page.getByRole('button', { name: 'Recipes' }).click();
  await recipesOf(page).getByRole('link', { name: title }).click();
}

test('a recipe names the stream, keeps what was typed, and is a link', async () => {
  const page = await visitor.signedIn('/streams/new');
  const addresses = page.getByLabel('Addresses', { exact: true });
  const tag = page.getByLabel('Tag', { exact: true });
  const recipes = recipesOf(page);
  await recipes.getByText('Received 0.5 ETH').waitFor();
  expect(await recipes.getByRole('link').count()).toBe(RECIPE_COUNT);
  await expectAccessible(page);
  await recipes.getByRole('link', { name: 'Watch a wallet' }).click();
  await page.waitForURL(/\?recipe=wallet$/);
  await expect
    .poll(() => addresses.evaluate((field) => field === document.activeElement))
    .toBe(true);
  expect(await tag.inputValue()).toBe('Wallet');
  await page.keyboard.insertText(`${WALLET}, treasury`);
  await expect.poll(() => tag.inputValue()).toBe('Wallet treasury');
  expect(await page.getByRole('checkbox', { name: /^Transactions/ }).isChecked()).toBe(true);
  // The samples of the dry run replace the recipes, until they are opened again.
  await recipes.waitFor({ state: 'detached' });
  await expectAccessible(page);

  await page.getByRole('button', { name: 'Recipes' }).click();
  await page
    .getByRole('region', { name: 'Dry run' })
    .getByText(/\d records? in/)
    .waitFor();
  await expectAccessible(page);
  await recipes.getByRole('link', { name: 'NFT mints' }).click();
  await recipes.waitFor({ state: 'detached' });
  await expect.poll(() => tag.inputValue()).toBe('treasury mints');
  expect(await addresses.inputValue()).toBe(`${WALLET}, treasury`);
  expect(await page.getByRole('checkbox', { name: /^Transactions/ }).isChecked()).toBe(false);
  // A tag that the user typed is kept.
  await tag.fill('mine');
  await selectRecipe(page, 'Contract events');
  await page.waitForURL(/recipe=events$/);
  expect(await tag.inputValue()).toBe('mine');
  await selectRecipe(page, 'Aptos payments');
  await expect
    .poll(() => page.getByRole('textbox', { name: 'Functions' }).inputValue())
    .toContain('0x1::aptos_account::transfer');
  expect(await page.getByRole('checkbox', { name: 'Aptos, local' }).isChecked()).toBe(true);
  // Leaving the page still requires a confirmation.
  await page.getByRole('link', { name: 'Deliveries' }).click();
  await page.getByRole('dialog', { name: 'Discard changes?' }).waitFor();
  await page.getByRole('button', { name: 'Discard' }).click();

  await page.goto(`${world.url}/console/streams/new?recipe=payments&address=${world.token}`);
  const amount = page.getByLabel('Value', { exact: true });
  await expect.poll(() => amount.evaluate((field) => field === document.activeElement)).toBe(true);
  await expect.poll(() => tag.inputValue()).toBe('Large SLD payments');
});

test('a rule is a sentence: an amount in the unit of a token, and changes in words', async () => {
  const page = await visitor.signedIn(
    `/streams/new?recipe=payments&address=${world.token}%0A${WALLET}`,
  );
  const value = page.getByLabel('Value', { exact: true });
  const unit = page.getByRole('combobox', { name: 'Unit' });
  await page.keyboard.press('Control+Enter');
  await page.getByText('Enter a value.').waitFor();
  // With several addresses, the token whose unit is selected becomes a separate condition.
  await unit.selectOption('SLD');
  await value.first().fill('1,000.5');
  await page.getByText('= 1,000,500,000 in the smallest unit').waitFor();
  expect(await value.last().inputValue()).toBe(world.token.toLowerCase());
  await value.first().fill('1.1234567');
  await page.getByText('with at most 6 decimals').waitFor();
  await value.first().fill('1.25');
  await page.getByRole('region', { name: 'Dry run' }).getByText('1.25 SLD').first().waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Control+Enter');
  await page.getByRole('heading', { name: 'Large payments (2 addresses)' }).waitFor();
  const id = page.url().split('/').at(-1)!;
  expect((await world.client.streams.get(id)).advancedOptions).toEqual([
    {
      topic0: 'Transfer(address,address,uint256)',
      filter: {
        and: [
          { gte: ['value', '1250000'] },
          { eq: ['moralis_streams_contract_address', world.token.toLowerCase()] },
        ],
      },
    },
  ]);

  await page.goto(`${world.url}/console/streams/${id}?tab=rules`);
  await expect.poll(() => value.first().inputValue()).toBe('1.25');
  await value.first().fill('2,000');
  await page.getByRole('checkbox', { name: /^Transactions/ }).check();
  const changes = page.getByLabel('Changes');
  await changes.getByText('where value at least 1.25 SLD and contract is SLD').waitFor();
  await changes.getByText('where value at least 2,000 SLD and contract is SLD').waitFor();
  expect(await changes.innerText()).toMatch(/Transactions\s+off → on/);
  await expectAccessible(page);
  // Selecting the smallest unit converts the number, but does not change the rule.
  await unit.selectOption('');
  expect(await value.first().inputValue()).toBe('2000000000');
  await page.getByRole('button', { name: 'Save 2 changes' }).click();
  await expect.poll(async () => (await world.client.streams.get(id)).includeNativeTxs).toBe(true);
});

test('a number that was typed before its token is known keeps its meaning', async () => {
  const page = await visitor.signedIn('/streams/new?recipe=payments');
  const value = page.getByLabel('Value', { exact: true });
  await value.fill('1,250,000');
  await page.getByLabel('Addresses', { exact: true }).fill(world.token);
  await page.getByText('= 1.25 SLD').waitFor();
  expect(await value.inputValue()).toBe('1250000');
  // An amount can include its unit.
  await value.fill('2,000.5 sld');
  await page.getByText('= 2,000,500,000 in the smallest unit').waitFor();
  await value.blur();
  await expect.poll(() => value.inputValue()).toBe('2,000.5');
});

test('a stream can hold unverified blocks, and send them again', async () => {
  const page = await visitor.signedIn(`/streams/new?recipe=wallet&address=${WALLET}`);
  const hold = page.getByRole('checkbox', { name: /^Hold unverified blocks/ });
  await page.getByLabel('Tag', { exact: true }).fill('careful');
  await hold.check();
  await selectRecipe(page, 'NFT mints');
  await selectRecipe(page, 'Watch a wallet');
  await page.waitForURL(/recipe=wallet/);
  expect(await hold.isChecked()).toBe(true);
  await expectAccessible(page);
  await page.keyboard.press('Control+Enter');
  await page.getByRole('heading', { name: 'careful' }).waitFor();
  const id = page.url().split('/').at(-1)!;
  expect((await world.client.streams.get(id)).unverified).toBe('hold');

  await page.goto(`${world.url}/console/streams/${id}?tab=settings`);
  await expect.poll(() => hold.isChecked()).toBe(true);
  await hold.uncheck();
  const changes = page.getByLabel('Changes');
  await expect.poll(() => changes.innerText()).toMatch(/Unverified blocks\s+hold → send/);
  await page.getByRole('button', { name: /^Save/ }).click();
  await expect.poll(async () => (await world.client.streams.get(id)).unverified).toBe('send');
});

test('recipes choose the destination, and fit a phone', async () => {
  const page = await visitor.signedIn('/streams/new?recipe=mints', PHONE);
  await page.getByText('Paste the address of a collection.').waitFor();
  const url = page.getByLabel('Webhook URL');
  const recipes = recipesOf(page);
  await recipes.getByRole('link', { name: 'Transfers as a feed' }).tap();
  await expect.poll(() => url.inputValue()).toBe('sluice://feed');
  await recipes.getByRole('link', { name: 'Transfers to a queue' }).tap();
  await expect.poll(() => url.inputValue()).toMatch(/^nats:/);
  await page.getByText('Replace the names in this example').first().waitFor();
  await recipes.getByRole('link', { name: 'Calls of a function' }).tap();
  await expect.poll(() => url.inputValue()).toBe('sluice://inbox/default');
  const functions = page.getByRole('textbox', { name: 'Functions' });
  expect(await functions.inputValue()).toBe('transfer(address to, uint256 value)');
  // The strip scrolls, not the page.
  expect(await recipes.locator('ul').evaluate((ul) => ul.scrollWidth > ul.clientWidth)).toBe(true);
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
});

test('failed transactions have a recipe, and calls are filtered by sender and status', async () => {
  const page = await visitor.signedIn(`/streams/new?recipe=failed&address=${world.token}`);
  const calls = page.getByRole('group', { name: 'Calls', exact: true });
  const functions = calls.getByLabel('Functions', { exact: true });
  await expect.poll(() => functions.inputValue()).toBe('*');
  const failed = calls.getByRole('button', { name: 'Failed', exact: true });
  expect(await failed.getAttribute('aria-pressed')).toBe('true');
  await functions.fill('transfer(address to, uint256 value)');
  await calls.getByRole('button', { name: 'Filter transfer' }).click();
  const filter = calls.getByRole('group', { name: 'Filter of transfer' });
  await filter.getByRole('combobox', { name: 'Outcome' }).selectOption('Successful');
  await filter.getByRole('button', { name: 'Add condition' }).click();
  // The amount is in the unit of the token.
  await filter.getByLabel('Value', { exact: true }).fill('1,000');
  await filter.getByRole('button', { name: 'Add condition' }).click();
  await filter.getByRole('combobox', { name: 'Parameter' }).last().selectOption('sender');
  await filter.getByRole('combobox', { name: 'Operator' }).last().selectOption('is');
  await filter.getByLabel('Value', { exact: true }).last().fill(WALLET);
  await expectAccessible(page);
  await page.keyboard.press('Control+Enter');
  await page.getByRole('heading', { name: /failures/ }).waitFor();
  const id = page.url().split('/').at(-1)!;
  const stream = await world.client.streams.get(id);
  expect(stream).toMatchObject({
    functions: ['transfer(address to, uint256 value)'],
    transactionStatus: 'failed',
    includeContractLogs: false,
    advancedOptions: [
      {
        function: 'transfer(address to, uint256 value)',
        filter: { and: [{ gte: ['value', '1000000000'] }, { eq: ['sluice_sender', WALLET] }] },
        transactionStatus: 'success',
      },
    ],
  });
});

test('functions are chosen from the ABI of the contract, with their selectors', async () => {
  const page = await visitor.signedIn(`/streams/new?recipe=calls&address=${world.token}`);
  const calls = page.getByRole('group', { name: 'Calls', exact: true });
  const functions = calls.getByLabel('Functions', { exact: true });
  const transfer = calls.getByRole('checkbox', { name: /^transfer \(.*0xa9059cbb$/ });
  await expect.poll(() => transfer.isChecked()).toBe(true);
  const approve = calls.getByRole('checkbox', { name: /^approve .*0x095ea7b3$/ });
  await approve.check();
  expect(await functions.inputValue()).toMatch(/^transfer\(.*\)\napprove\(address spender, /);
  await transfer.uncheck();
  expect(await functions.inputValue()).toMatch(/^approve/);
  // Offered by the ABI, like before it was selected.
  expect(await transfer.isChecked()).toBe(false);
  // A selector is named by the ABI.
  await functions.fill('0xa9059cbb');
  await expect.poll(() => transfer.isChecked()).toBe(true);
  await expectAccessible(page);
  // Without a function, the ABI is requested only by the button.
  await functions.fill('');
  await approve.waitFor({ state: 'detached' });
  await calls.getByRole('button', { name: /^Choose from the functions of 0x/ }).click();
  await transfer.check();
  expect(await functions.inputValue()).toBe('transfer(address to, uint256 value)');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('heading', { name: /calls/ }).waitFor();
  const id = page.url().split('/').at(-1)!;
  expect((await world.client.streams.get(id)).functions).toEqual([
    'transfer(address to, uint256 value)',
  ]);
});
