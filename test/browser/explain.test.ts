/**
 * Tests that Explain shows the transaction, and each rule of a stream next to the values that it
 * compares.
 */
import { createSluiceClient } from '@sluice/kit/sluice';
import { until } from '@sluice/testkit';
import { beforeAll, expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import {
  expectAccessible,
  expectContrast,
  expectNoSidewaysScroll,
  PHONE,
  smallTargets,
} from './visitor.ts';
import { CONFIRMATIONS, startWorld } from './world.ts';

const TRANSFER = 'Transfer(address,address,uint256)';
const ELSEWHERE = '0x28c6c06298d514db089934071355e5743bf21d60';

const world = useRunning(startWorld);
const visitor = useVisitor(world);
let streamId: string;
let hash: string;

beforeAll(async () => {
  streamId = (await world.createStream('every-transfer')).id;
  const common = { webhookUrl: world.webhookUrl, description: '', chainIds: ['0x7a69'] };
  const inputs = ['address from', 'address to', 'uint256 value'].map((input, n) => {
    const [type = '', name = ''] = input.split(' ');
    return { name, type, indexed: n < 2 };
  });
  const large = await world.client.streams.create({
    ...common,
    tag: 'large-transfers',
    includeContractLogs: true,
    abi: [{ type: 'event', name: 'Transfer', inputs }],
    advancedOptions: [{ topic0: TRANSFER, filter: { gt: ['value', '2000000'] } }],
  });
  await world.client.streams.addAddress(large.id, world.token);
  const other = await world.client.streams.create({ ...common, tag: 'other-wallet' });
  await world.client.streams.addAddress(other.id, ELSEWHERE);
  await world.transfer();
  await world.mine(CONFIRMATIONS);
  hash = await readHash(streamId);
}, 120_000);

/**
 * Waits until a confirmed delivery of the stream has succeeded, and returns the transaction hash in
 * it.
 */
async function readHash(id: string): Promise<string> {
  const sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  const delivery = await until('it is delivered and confirmed', async () => {
    const filter = { streamId: id, phase: 'confirmed', state: 'succeeded' } as const;
    return (await sluice.listDeliveries(filter)).result[0];
  });
  const body = JSON.parse(await sluice.getDeliveryBody(delivery.id)) as {
    logs?: { transactionHash: string }[];
    transactions?: { hash: string }[];
  };
  return (body.logs?.[0]?.transactionHash ?? body.transactions?.[0]?.hash)!;
}

test('the transaction is the headline, with links to the explorer and its deliveries', async () => {
  const page = await visitor.signedIn(`/explain?q=${hash}`);
  const result = page.getByRole('region', { name: 'Result' });
  const headline = result.getByRole('heading', { name: /^Transaction/ });
  await headline.getByText('succeeded').waitFor();
  const fact = (name: string) =>
    result.locator('dl > div').filter({ has: page.getByText(name, { exact: true }) });
  await fact('To').getByText(world.token.toLowerCase()).waitFor({ state: 'attached' });
  await fact('Value').getByText('0 ETH').waitFor();
  await fact('Method').getByText('transfer(address,uint256)').waitFor();
  await fact('Method').getByText('0xa9059cbb').waitFor();
  const links = await result
    .getByRole('link', { name: /on explorer\.example/ })
    .evaluateAll((found) => found.map((link) => link.getAttribute('href')));
  expect(links).toEqual([
    `https://explorer.example/tx/${hash}`,
    expect.stringMatching(/^https:\/\/explorer\.example\/address\/0x[0-9a-f]{40}$/),
    `https://explorer.example/address/${world.token.toLowerCase()}`,
    expect.stringMatching(/^https:\/\/explorer\.example\/block\/\d+$/),
  ]);
  await result.getByRole('link', { name: /^Show the \d+ deliveries$/ }).click();
  await page.waitForURL((url) => url.searchParams.get('q') === hash);
  await page.getByRole('row').filter({ hasText: 'every-transfer' }).first().waitFor();
});

test('each verdict shows the rule next to what this transaction has', async () => {
  const page = await visitor.signedIn(`/explain?q=${hash}`);
  const verdictOf = (tag: string) =>
    page.getByRole('list', { name: 'Streams' }).locator(':scope > li').filter({ hasText: tag });
  const large = verdictOf('large-transfers');
  await large.getByText('large-transfers').first().click();
  const compared = large.getByRole('row').filter({ hasText: 'value > 2,000,000' }).first();
  await compared.getByRole('cell', { name: '1,250,000' }).waitFor();
  await compared.getByText('does not hold').waitFor({ state: 'attached' });
  await large
    .getByRole('row', { name: `contract watched ${world.token.toLowerCase()} holds` })
    .first()
    .waitFor();

  const record = large.getByRole('link', { name: /^Open transaction .* on explorer/ }).first();
  expect(await record.getAttribute('href')).toBe(`https://explorer.example/tx/${hash}`);

  const other = verdictOf('other-wallet');
  await other.getByText('other-wallet').first().click();
  await other.getByText('The stream watches none of them.').waitFor();
  for (const name of ['from', 'to', /^topic 2 of log \d+$/]) {
    await other.getByText(name, { exact: true }).waitFor();
  }
  await other
    .getByRole('link', { name: /^Open address .* on explorer/ })
    .first()
    .waitFor();
  // The timing shows where the block stopped, and how far the webhooks of another stream came.
  const stopped = other.getByRole('figure', { name: 'Timing' });
  await stopped.getByText('stopped here', { exact: true }).waitFor();
  await stopped.getByRole('button', { name: 'Show as table' }).click();
  await stopped.getByRole('row', { name: /^Block to commit \d\d:/ }).waitFor();
  await stopped.getByRole('row', { name: /^Check: address, stopped here: / }).waitFor();
  const delivered = verdictOf('every-transfer');
  await delivered.getByText('every-transfer').first().click();
  const timings = delivered.getByRole('figure', { name: 'Timing' });
  await timings.nth(1).getByText('delivered', { exact: true }).waitFor();
  await timings.first().getByRole('link', { name: 'Open the confirmed delivery' }).waitFor();
  await timings.nth(1).getByRole('link', { name: 'Open the unconfirmed delivery' }).waitFor();
  await expectAccessible(page);
  await page.evaluate(() => void (document.documentElement.dataset['theme'] = 'light'));
  await expectContrast(page);
});

test('explains an Aptos transaction on a phone', async () => {
  const { id } = await world.client.streams.create({
    networkType: 'aptos',
    network: ['local'],
    webhookUrl: world.webhookUrl,
    description: '',
    tag: 'aptos-calls',
    allAddresses: true,
    functions: ['0x1::aptos_account::transfer'],
  });
  const payment = await readHash(id);
  const page = await visitor.signedIn(`/explain?q=${payment}`, PHONE);
  const result = page.getByRole('region', { name: 'Result' });
  await result.getByText(/ APT$/).waitFor();
  await result.getByText('0x1::aptos_account::transfer').waitFor();
  const verdict = page
    .getByRole('list', { name: 'Streams' })
    .locator(':scope > li')
    .filter({ hasText: 'aptos-calls' });
  await verdict.getByText('aptos-calls').first().click();
  await verdict.getByRole('row').filter({ hasText: 'function' }).first().waitFor();
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
  await expectAccessible(page);
});
