/**
 * Tests how the console explains failed attempts, and which actions it offers, with real failures.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createClient } from '@sluice/kit';
import { createSluiceClient, type SluiceClient } from '@sluice/kit/sluice';
import { startService } from '@sluice/service';
import {
  findFreePort,
  createCertificate,
  devAccounts,
  scripted,
  startScriptedChain,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  expectAccessible,
  expectContrast,
  expectNoSidewaysScroll,
  PHONE,
  startVisitor,
  type Visitor,
} from './visitor.ts';
import { buildConsole } from './world.ts';

const API_KEY = 'browser_test_key_0123456789';
const CHAIN_ID = '0x7a69';
const DAY_MS = 24 * 3_600_000;
const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/** Expected explanation and actions by kind of failure. */
const FAILURES: Readonly<Record<string, { says: RegExp; offers: string[] }>> = {
  '401': { says: /signature did not verify/, offers: ['Check the signature'] },
  '404': { says: /path or method is wrong/, offers: ['Change the webhook URL…'] },
  '408': { says: /Respond with 2xx first/, offers: ['Copy a handler that responds first'] },
  '413': { says: /This body of 1\.\d kB/, offers: ['Copy the line for Express'] },
  '429': { says: /The next attempt waits until \d\d:\d\d:\d\d/, offers: ['Edit rate limits'] },
  '500': { says: /handler failed/, offers: ['Copy command to replay to localhost'] },
  reset: { says: /closed the connection/, offers: ['Copy as curl'] },
  refused: {
    says: /Nothing is listening.* Tried 127\.0\.0\.1:\d+/,
    offers: ['Copy curl -v', 'Change the webhook URL…'],
  },
  // The rest of the explanation depends on whether a name server is available.
  unnamed: { says: /name no-such-host\.invalid/, offers: ['Copy curl -v'] },
  plain: { says: /does not speak TLS/, offers: ['Copy curl -v', 'Change the webhook URL…'] },
  expired: {
    says: /secure connection failed.*has expired.* for localhost; valid from/,
    offers: ['Copy curl -v'],
  },
  private: {
    says: /10\.1\.2\.3 is not public/,
    offers: ['Copy the --allow-cidr flag', 'Change the webhook URL…', 'Copy curl -v'],
  },
};

let visitor: Visitor;
let sluice: SluiceClient;
let url: string;
/** URL of the receiver, which responds with 200 unless a path has another response. */
let receiver: string;
/** ID of the only delivery of each stream, by the tag of the stream. */
const deliveries = new Map<string, string>();
const stops: (() => unknown)[] = [];
const pathOf = (tag: string): string => `/deliveries/${deliveries.get(tag)}`;
const consoleUrl = (tag: string): string => `${url}/console${pathOf(tag)}`;

/**
 * Starts a TLS receiver that responds with 200. Its certificate expires in this number of days; a
 * negative number means that it has already expired.
 */
async function startTlsReceiver(days: number): Promise<string> {
  const at = (inDays: number): Date => new Date(Date.now() + inDays * DAY_MS);
  const authority = createCertificate({
    commonName: 'Test authority',
    validFrom: at(-10),
    expiresAt: at(1_000),
    isAuthority: true,
  });
  setDefaultCACertificates([...getCACertificates('default'), authority.cert]);
  const certified = createCertificate({
    commonName: 'localhost',
    names: ['localhost'],
    validFrom: at(-10),
    expiresAt: at(days),
    issuer: authority,
  });
  const server = createServer(certified, (request, response) => {
    request.resume().on('end', () => response.end('thank you'));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  stops.push(() => server.close());
  return `https://localhost:${(server.address() as AddressInfo).port}/hooks`;
}

beforeAll(async () => {
  const consoleFolder = await buildConsole();
  const chain = await startScriptedChain();
  const sink = await startWebhookSink();
  receiver = sink.url;
  const dataFolder = await mkdtemp(join(tmpdir(), 'sluice-failed-'));
  stops.push(() => rm(dataFolder, { recursive: true }), sink.close, chain.stop);
  const statuses = Object.keys(FAILURES).filter((kind) => /^\d+$/.test(kind));
  for (const status of statuses) {
    const headers = { 'retry-after': '120' };
    sink.respond({ status: Number(status), headers }, { path: `/${status}` });
  }
  sink.respond({ silence: 'reset' }, { path: '/reset' });
  const urls = {
    ...Object.fromEntries(statuses.map((status) => [status, `${sink.url}/${status}`])),
    reset: `${sink.url}/reset`,
    refused: `http://maya:sesame@127.0.0.1:${await findFreePort()}/hooks?token=sesame`,
    unnamed: 'https://no-such-host.invalid/hooks',
    plain: sink.url.replace('http:', 'https:'),
    expired: await startTlsReceiver(-3),
    ending: await startTlsReceiver(5.5),
    private: 'http://10.1.2.3/hooks',
  };

  const start = (allowCidrs: string[]) =>
    startService({
      port: 0,
      host: '127.0.0.1',
      data: dataFolder,
      apiKey: API_KEY,
      chains: [{ id: CHAIN_ID, urls: [chain.url], pollMs: 50 }],
      aptos: [],
      allowPrivateEndpoints: false,
      allowCidrs,
      consoleFolder,
      testWebhook: false,
      fastRetry: false,
      schedule: [600_000],
    });
  // The tested service rejects streams with a private address. They are saved first, by a service
  // that allows the address.
  const before = await start(['10.0.0.0/8', ...LOOPBACK]);
  const { streams } = createClient({ baseUrl: before.url, apiKey: API_KEY });
  const tags = new Map<string, string>();
  for (const [tag, webhookUrl] of Object.entries(urls)) {
    const { id } = await streams.create({
      webhookUrl,
      description: tag,
      tag,
      chainIds: [CHAIN_ID],
      topic0: ['Transfer(address,address,uint256)'],
      allAddresses: true,
      includeContractLogs: true,
    });
    tags.set(id, tag);
  }
  await before.stop();
  const service = await start(LOOPBACK);
  stops.push(service.stop);
  url = service.url;

  sluice = createSluiceClient({ baseUrl: url, apiKey: API_KEY });
  await until('the chain is live', async () => (await sluice.listChains())[0]?.state === 'live');
  const [owner, other] = devAccounts;
  const token = '0x00000000000000000000000000000000000000aa';
  const transfer = { token, from: owner!.address, to: other!.address, value: 5n } as const;
  chain.mine({ transactions: [scripted.erc20Transfer(transfer)] });
  await until('every delivery was attempted', async () => {
    const { result } = await sluice.listDeliveries();
    for (const { id, streamId, attempts, state } of result) {
      if (attempts > 0 && state !== 'leased') deliveries.set(tags.get(streamId)!, id);
    }
    return deliveries.size === tags.size;
  });
  visitor = await startVisitor({ url, apiKey: API_KEY });
});

afterAll(async () => {
  await visitor?.stop();
  for (const stop of stops.toReversed()) await stop();
});

afterEach(() => visitor.leave());

const attemptsOn = (page: Page) => page.getByRole('region', { name: 'Attempts' });

/** Clicks the button and returns the clipboard's text. */
async function copyBy(page: Page, label: string): Promise<string> {
  await attemptsOn(page).getByRole('button', { name: label }).click();
  await attemptsOn(page).getByText('Copied').waitFor();
  return page.evaluate(() => navigator.clipboard.readText());
}

test('each failure is explained and links to its fix', async () => {
  const page = await visitor.signedIn();
  const open = (kind: string) => page.goto(consoleUrl(kind));
  for (const [kind, { says, offers }] of Object.entries(FAILURES)) {
    await open(kind);
    await attemptsOn(page).getByText(says).waitFor();
    for (const name of offers) {
      const role = /^(Copy|Change)/.test(name) ? 'button' : 'link';
      await attemptsOn(page).getByRole(role, { name }).waitFor();
    }
  }
  await open('401');
  await page.getByRole('link', { name: 'Check the signature' }).click();
  await expect.poll(() => page.getByLabel('Body').inputValue()).toContain('"chainId":"0x7a69"');
});

test('a wrong URL is corrected, and the delivery is sent again', async () => {
  const page = await visitor.signedIn(pathOf('404'));
  await attemptsOn(page).getByRole('button', { name: 'Change the webhook URL…' }).click();
  const field = page.getByRole('dialog').getByLabel('Webhook URL');
  await expect.poll(() => field.inputValue()).toMatch(/\/404$/);
  await expectAccessible(page);
  // Typing replaces the URL, which is selected.
  await page.keyboard.type(`${receiver}/corrected`);
  await page.keyboard.press('Enter');
  await page.getByText('URL changed, sent again').waitFor();
  const id = deliveries.get('404')!;
  await until('it is delivered', async () => (await sluice.getDelivery(id)).state === 'succeeded');
  const { attemptList } = await sluice.getDelivery(id);
  expect(attemptList.map(({ status }) => status)).toEqual([404, 200]);
  expect(attemptList.at(-1)?.webhookUrl).toBe(`${receiver}/corrected`);
});

test('the timing shows each part of an attempt and the next attempt, also to the keyboard', async () => {
  const page = await visitor.signedIn(pathOf('500'));
  const timing = page.getByRole('figure', { name: 'Timing' });
  await timing.getByText(/^1 attempt, next in \d+m$/).waitFor();
  const cursor = timing.getByRole('slider', { name: 'Part' });
  await cursor.focus();
  const read: string[] = [];
  const count = Number(await cursor.getAttribute('aria-valuemax')) + 1;
  for (let n = 0; n < count; n++) {
    read.push((await cursor.getAttribute('aria-valuetext'))!);
    // The selected part is also shown as text.
    await timing.getByText(read[n]!, { exact: true }).waitFor();
    await page.keyboard.press('ArrowRight');
  }
  const names = read.map((text) => text.split(',')[0]);
  expect(names).toContain('Attempt 1: wait');
  expect(names.slice(-2)).toEqual(['Waited so far', 'Until attempt 2']);
  expect(read.findLast((text) => text.startsWith('Attempt'))).toMatch(/, 500: /);
  await page.keyboard.press('Home');
  expect(await cursor.getAttribute('aria-valuenow')).toBe('0');
  await timing.getByRole('button', { name: 'Show as table' }).press('Enter');
  const rows = timing.getByRole('row').filter({ has: page.getByRole('cell') });
  expect(await rows.count()).toBe(count);
  await expectAccessible(page);
  await page.emulateMedia({ forcedColors: 'active' });
  const colorOf = (locator: Locator) =>
    locator.evaluate((element) => getComputedStyle(element).backgroundColor);
  expect(await colorOf(timing.locator('.flight-bar').first())).not.toBe(
    await colorOf(page.locator('body')),
  );
});

test('copied commands contain no secret of the URL and allow a single address', async () => {
  const page = await visitor.signedIn(pathOf('refused'), {
    ...PHONE,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  expect(await copyBy(page, 'Copy curl -v')).toMatch(
    /^curl -v -X POST http:\/\/127\.0\.0\.1:\d+\/hooks$/,
  );
  await page.goto(consoleUrl('private'));
  expect(await copyBy(page, 'Copy the --allow-cidr flag')).toBe('--allow-cidr 10.1.2.3/32');
  await expectNoSidewaysScroll(page);
});

test('a certificate that expires soon is reported while it still works', async () => {
  const page = await visitor.signedIn(pathOf('ending'), { colorScheme: 'dark', ...PHONE });
  await page.getByText('certificate expires soon').waitFor();
  await page.getByText(/certificate for localhost expires in 5d/).waitFor();
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: 'light' });
  await expectContrast(page);
  // The warning is also visible without opening a delivery.
  const words = /the receiver’s certificate expires in 5d, .*: renew it/;
  await page.getByRole('link', { name: 'ending' }).click();
  await page.getByText(words).waitFor();
  // Only the rows in view are rendered, and the failures of one block have any order.
  await page.goto(`${url}/console/?q=ending`);
  await page.getByText(words).waitFor();
  expect(await page.getByText(words).count()).toBe(1);
  await expectNoSidewaysScroll(page);
  // An expired certificate is shown as the error of an attempt, without a separate warning.
  await page.goto(consoleUrl('expired'));
  await attemptsOn(page).getByText('Renew or fix the certificate').waitFor();
  expect(await page.getByText('certificate expires soon').count()).toBe(0);
});
