/** Tests `sluice chains` against a service on a real chain. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import { type Anvil, startAnvil, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, SLUICE, type Served, serve } from '../serve.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-chains-'));
const root = fileURLToPath(new URL('../..', import.meta.url));
let anvil: Anvil;
let served: Served;

beforeAll(async () => {
  anvil = await startAnvil();
  served = await serve([
    ...['--data', folder, '--chain', `0x7a69=${anvil.url},poll=50`],
    '--no-test-webhook',
  ]);
});
afterAll(async () => {
  await served?.stop();
  await anvil?.stop();
  rmSync(folder, { recursive: true });
});

/** Runs `sluice` with these arguments, and returns its exit code and output. */
const sluice = (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    const env = { ...process.env, SLUICE_API_URL: served.url, SLUICE_API_KEY: API_KEY };
    execFile(process.execPath, [...SLUICE, ...args], { cwd: root, env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });

test('lists the state of each chain, for people and for programs', async () => {
  await until('the chain is live', async () =>
    (await sluice('chains', 'list')).stdout.includes('live'),
  );
  const { stdout } = await sluice('chains', 'list');
  expect(stdout).toMatch(
    /^0x7a69 {2}.+ {2}live {2}at 0, head 0, finalized 0, confirmations 2\n {2}127\.0\.0\.1/,
  );
  const [chain] = JSON.parse((await sluice('chains', 'list', '--json')).stdout) as object[];
  expect(chain).toMatchObject({ id: '0x7a69', state: 'live', checkpoint: 0 });
});

test('a stream reports a missing source, and nothing otherwise', async () => {
  const client = createClient({ apiKey: API_KEY, baseUrl: served.url });
  const summaries = createSluiceClient({ apiKey: API_KEY, baseUrl: served.url });
  const stream = {
    webhookUrl: `${served.url}/health`,
    description: '',
    tag: 'well',
    chainIds: ['0x7a69'],
    includeContractLogs: true,
  };
  await client.streams.create(stream);
  await client.streams.create({ ...stream, tag: 'lacking', chainIds: ['0x7a69', '0x5'] });
  const statuses = (await summaries.listStreamSummaries()).map((each) => [
    each.tag,
    each.status,
    each.statusMessage,
  ]);
  expect(statuses).toEqual([
    ['lacking', 'active', 'No source for 0x5: start the service with --chain 0x5=<rpcUrl>'],
    ['well', 'active', ''],
  ]);
});

test('sluice chains resume continues from a block, or reports why it cannot', async () => {
  await anvil.request('anvil_mine', ['0xa']);
  const resumed = await sluice('chains', 'resume', '0x7a69', '--from', '8');
  expect(resumed).toMatchObject({ code: 0 });
  expect(resumed.stdout).toContain('0x7a69 resumes from block 8');

  const beyond = await sluice('chains', 'resume', '0x7a69', '--from', '99');
  expect(beyond.code).toBe(4);
  expect(beyond.stderr).toContain('the node does not have block 98; its head is 10');

  const wrong = await sluice('chains', 'resume', '0x7a69', '--from', 'x');
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('error[usage]: --from x: should be a whole number');

  const unknown = await sluice('chains', 'resume', '0x5');
  expect(unknown.stderr).toContain(
    'No source for 0x5: start the service with --chain 0x5=<rpcUrl>',
  );

  const stranger = await sluice('chains', 'list', '--api-key', 'x'.repeat(20));
  expect(stranger.code).toBe(3);
  expect(stranger.stderr).toMatch(/^error\[unauthorized\]: .*key/i);
});
