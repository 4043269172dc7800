/** The kit does in Chromium what it does in Node, from the same source. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import { expect, test } from 'vitest';
import { CHROMIUM_OPTIONS } from './chromium.ts';
import { bundle } from '../runtimes/bundle.ts';
import { runChecks } from '../runtimes/checks.ts';

test('the kit tells the same in Chromium as in Node', async () => {
  const script = await bundle("export * from './checks.ts'");
  const server = createServer((request, response) => {
    const isScript = request.url === '/checks.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : '<!doctype html><title>kit</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const browser = await chromium.launch(CHROMIUM_OPTIONS);
  try {
    const page = await browser.newPage();
    await page.goto(url);
    const told = await page.evaluate("import('/checks.js').then(({ runChecks }) => runChecks())");
    const expected = await runChecks();
    expect(Object.keys(expected).length).toBeGreaterThan(30);
    expect(told).toEqual(expected);
  } finally {
    await browser.close();
    server.close();
  }
});
