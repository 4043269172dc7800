/**
 * Tests that messages name commands in the form that works in a checkout. `test/packed` tests the
 * form for the package.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { rewriteCommands } from './packaged.ts';
import { reportError } from '../terminal/errors.ts';
import { sluice } from '../terminal/scripted.test-only.ts';
import { createTerminal } from '../terminal/terminal.ts';

test('each command is rewritten for a checkout', async () => {
  const { stdout } = await sluice(['--help']);
  const names = [...stdout.matchAll(/^ {2}([a-z][a-z-]*) {2,}\S/gm)].map(([, name]) => name);
  expect(names).toEqual(expect.arrayContaining(['dev', 'dry-run', 'import', 'context']));
  for (const name of names) {
    expect(rewriteCommands(`run sluice ${name} --json`)).toBe(
      `run npm run -s sluice -- ${name} --json`,
    );
  }
  expect(rewriteCommands('sluice --help')).toBe('npm run -s sluice -- --help');
});

test('other text is unchanged', () => {
  for (const text of [
    'the folder is in use by another sluice process',
    'SLUICE_API_KEY',
    '.sluice/data',
    'reinstall sluice',
    'a newer sluice: it has',
    'npm run -s sluice -- dev',
  ]) {
    expect(rewriteCommands(text)).toBe(text);
  }
});

test('chains list and doctor rewrite the fix that the service returns for a halt', async () => {
  const halted = {
    id: '0x1',
    name: 'Ethereum',
    state: 'down',
    head: 9,
    checkpoint: 4,
    finalized: null,
    confirmations: 12,
    unverified: null,
    providers: [],
    message: 'a reorg. To continue and leave a hole, run: sluice chains resume 0x1 --from <block>',
  };
  const server = createServer(({ url }, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ total: 1, result: url === '/sluice/chains' ? [halted] : [] }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const service = ['--api-url', `http://127.0.0.1:${port}`, '--api-key', 'a-key-of-16-or-more'];
  for (const command of [['chains', 'list'], ['doctor']]) {
    const { stdout } = await sluice([...command, ...service]);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      'leave a hole, run: npm run -s sluice -- chains resume 0x1 --from <block>',
    );
  }
  server.close();
});

test('a settings error rewrites its fix, too', async () => {
  const printed: string[] = [];
  const write = (text: string): void => void printed.push(text);
  const output = { isTTY: false, columns: 80, rows: 24, hasColor: false, write };
  const terminal = createTerminal({
    stdout: output,
    stderr: output,
    stdin: new PassThrough(),
    env: {},
    cwd: '/',
    signal: new AbortController().signal,
    stop() {},
  });
  const error = Object.assign(new Error('--api-key: create another with sluice keys create'), {
    name: 'CallerError',
    code: 'usage',
  });
  reportError(error, terminal, { command: 'sluice serve' });
  expect(printed[0]).toContain('create another with npm run -s sluice -- keys create');
});
