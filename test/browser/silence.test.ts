/** Tests the console when a node or the service stops responding, or a chain has no new blocks. */
import { createClient, type Client } from '@sluice/kit';
import { startScriptedChain, type RunningScriptedChain } from '@sluice/testkit';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { API_KEY, serve, type Served } from '../serve.ts';
import { expectAccessible, expectContrast, PHONE, startVisitor, type Visitor } from './visitor.ts';
import { buildConsole } from './world.ts';

/** Chain IDs of Ethereum and Base, whose names the service knows. */
const CHAINS = { frozen: 1, other: 8453 };
const BLOCK_MS = 1_000;

/** A chain that mines at a steady pace until it is paused. */
interface Paced extends RunningScriptedChain {
  go(): void;
  pause(): void;
}

let chains: Record<keyof typeof CHAINS, Paced>;
let folder: string;
let service: Served;
let visitor: Visitor;
let client: Client;
let streamId: string;

async function startPaced(chainId: number): Promise<Paced> {
  const chain = await startScriptedChain({ chainId });
  // Each block's timestamp is exactly one second after the previous one, even if a busy machine
  // delays the timer.
  const mine = (): void => void chain.mine({ timestamp: chain.head.timestamp + 1n });
  let timer: ReturnType<typeof setInterval> | undefined;
  return Object.assign(chain, {
    go: () => void (timer ??= setInterval(mine, BLOCK_MS)),
    pause: () => {
      clearInterval(timer);
      timer = undefined;
    },
  });
}

beforeAll(async () => {
  await buildConsole();
  chains = { frozen: await startPaced(CHAINS.frozen), other: await startPaced(CHAINS.other) };
  folder = await mkdtemp(join(tmpdir(), 'sluice-silence-'));
  service = await serve([
    ...['--data', folder],
    ...['--chain', `0x1=${chains.frozen.url}`, '--chain', `0x2105=${chains.other.url}`],
  ]);
  client = createClient({ baseUrl: service.url, apiKey: API_KEY });
  const stream = (tag: string, chainIds: string[]) =>
    client.streams.create({
      webhookUrl: 'sluice://inbox/silence',
      description: '',
      tag,
      chainIds,
      topic0: ['Transfer(address,address,uint256)'],
      allAddresses: true,
      includeContractLogs: true,
    });
  streamId = (await stream('on-both', ['0x1', '0x2105'])).id;
  await stream('elsewhere', ['0x2105']);
  visitor = await startVisitor({ url: service.url, apiKey: API_KEY });
});

afterAll(async () => {
  await visitor?.stop();
  await service?.kill();
  for (const each of Object.values(chains ?? {})) {
    each.pause();
    await each.stop();
  }
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

beforeEach(() => {
  chains.frozen.go();
  chains.other.go();
});

const row = (page: Page, tag: string) =>
  page.locator('tbody').filter({ has: page.getByRole('link', { name: tag }) });

/** Waits until each chain has enough blocks to derive its block time. */
const untilPaced = (page: Page) =>
  expect
    .poll(
      () =>
        page.evaluate(async () => {
          const response = await fetch('/sluice/chains');
          const { result } = (await response.json()) as { result: { blocks: unknown[] }[] };
          return Math.min(...result.map(({ blocks }) => blocks.length));
        }),
      { timeout: 30_000 },
    )
    .toBeGreaterThan(6);

/** Runs the check and fails if it took longer than `ms`. */
const within = async (ms: number, what: string, check: () => Promise<unknown>): Promise<void> => {
  const started = performance.now();
  await check();
  const tookMs = Math.round(performance.now() - started);
  expect(tookMs, what).toBeLessThan(ms);
};

const openBoth = async (): Promise<[list: Page, stream: Page]> => {
  const list = await visitor.signedIn();
  await untilPaced(list);
  const stream = await visitor.signedIn(`/streams/${streamId}`);
  await row(list, 'on-both').getByText('active', { exact: true }).first().waitFor();
  await stream.getByText('active', { exact: true }).first().waitFor();
  return [list, stream];
};

const CHAIN_MS = 15_000;
const SERVICE_MS = 6_000;

const FREEZES = [
  {
    how: 'stops responding',
    freeze: () => chains.frozen.trouble({ kind: 'hang' }),
    thaw: () => chains.frozen.heal(),
  },
  {
    how: 'has no new blocks',
    freeze: () => chains.frozen.pause(),
    thaw: () => chains.frozen.go(),
  },
];

test.each(FREEZES)(
  'a chain shows as down everywhere once its node $how',
  async ({ freeze, thaw }) => {
    const [list, stream] = await openBoth();
    freeze();
    await within(CHAIN_MS, 'frozen chain on both pages and in the tab', () =>
      Promise.all([
        row(list, 'on-both').getByText('chain down').first().waitFor(),
        row(list, 'on-both').getByText('Ethereum is down').first().waitFor(),
        stream.getByText('chain down').waitFor(),
        expect.poll(() => list.title(), { timeout: CHAIN_MS }).toMatch(/^▲ ETH down/),
        expect.poll(() => stream.title(), { timeout: CHAIN_MS }).toMatch(/^▲ ETH down/),
      ]),
    );
    expect(
      await row(list, 'elsewhere').getByText('active', { exact: true }).count(),
    ).toBeGreaterThan(0);
    // Only the figures of the silent chain are dimmed.
    const strip = list.getByRole('region', { name: 'Blocks' });
    const color = (code: string) =>
      strip
        .getByRole('listitem')
        .filter({ hasText: code })
        .locator('[data-tip="Newest known block"]')
        .evaluate((figure) => getComputedStyle(figure).color);
    expect(await color('ETH')).not.toBe(await color('BASE'));
    await expectAccessible(list);
    await expectAccessible(stream);

    thaw();
    await row(list, 'on-both').getByText('active', { exact: true }).first().waitFor();
    await stream.getByText('active', { exact: true }).first().waitFor();
    await expect.poll(() => list.title()).not.toContain('down');
    await visitor.leave();
  },
);

test('a frozen service is detected, its figures are dimmed, and no chain is blamed', async () => {
  const [list, stream] = await openBoth();
  const phone = await visitor.signedIn('/', PHONE);
  const figure = (page: Page) =>
    page
      .locator('main .data')
      .first()
      .evaluate((each) => getComputedStyle(each).color);
  const before = await figure(list);
  process.kill(service.pid, 'SIGSTOP');
  try {
    await within(SERVICE_MS, 'frozen service', () =>
      Promise.all(
        [list, stream, phone].flatMap((page) => [
          page
            .getByText(/^reconnecting/)
            .first()
            .waitFor(),
          expect.poll(() => page.title(), { timeout: SERVICE_MS }).toMatch(/^◌ reconnecting/),
        ]),
      ),
    );
    await expect.poll(() => figure(list)).not.toBe(before);
    for (const page of [list, stream, phone]) {
      expect(await page.getByText('chain down').count()).toBe(0);
      await expectAccessible(page);
      await page.emulateMedia({ colorScheme: 'light' });
      await expectContrast(page);
    }
  } finally {
    process.kill(service.pid, 'SIGCONT');
  }
  await list.getByText('live', { exact: true }).first().waitFor();
  await expect.poll(() => list.title()).not.toContain('reconnecting');
  await list.emulateMedia({ colorScheme: null });
  await expect.poll(() => figure(list)).toBe(before);
  visitor.expectComplaints((text) => /Failed to load resource|net::ERR/.test(text));
  await visitor.leave();
});
