/**
 * Tests that the README contains the example receiver, and that the example prints verified,
 * decoded transfers.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  findFreePort,
  type Anvil,
  deployContracts,
  startActivity,
  startAnvil,
  until,
} from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, SECRET, type Served, serve } from '../serve.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sluice-readme-'));
/** A copy of the example in the same folder, so that its imports resolve in the same way. */
const copy = join(root, 'examples', `receiver-${process.pid}.ts`);
let anvil: Anvil;
let service: Served;

beforeAll(async () => {
  anvil = await startAnvil();
  service = await serve([
    '--data',
    join(folder, 'data'),
    '--chain',
    `0x7a69=${anvil.url},confirmations=2,poll=50`,
  ]);
});
afterAll(async () => {
  await service.stop();
  await anvil.stop();
  rmSync(folder, { recursive: true });
  rmSync(copy, { force: true });
});

test('the example is the README’s own, and prints verified, decoded transfers', async () => {
  const example = readFileSync(join(root, 'examples', 'receiver.ts'), 'utf8');
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`\`\`\`ts\n${example}\`\`\``);

  const port = await findFreePort();
  writeFileSync(
    copy,
    example.replaceAll('3000', String(port)).replace('http://127.0.0.1:4400', service.url),
  );
  const contracts = await deployContracts(anvil);
  const activity = startActivity({ url: anvil.url, contracts, perSecond: 20 });
  const child = spawn(process.execPath, ['-C', '@sluice/source', copy], {
    cwd: root,
    env: { ...process.env, SLUICE_API_KEY: API_KEY, SLUICE_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await until('a transfer is printed', () =>
    /^Transfer 0x\w{40} 0x\w{40} \d+n$/m.test(output),
  ).catch((error: Error) => {
    throw new Error(`${error.message}:\n${output}`);
  });
  await activity.stop();
  child.kill();
  await once(child, 'exit');
});
