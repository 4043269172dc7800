/** Tests that untrusted text cannot control the terminal. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type World, startWorld } from './world.test-only.ts';

/** Text that clears the screen, sets the clipboard and forges a line. */
const TAG = 'a\u001b[2J\u001b]52;c;cm0=\u0007\u009b31m\r\n✓ b';
// oxlint-disable-next-line no-control-regex -- the pattern matches control characters
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;
let world: World;
let id: string;

beforeAll(async () => {
  world = await startWorld();
  const stream = { webhookUrl: world.sink.url, description: TAG, tag: TAG, chainIds: ['0x7a69'] };
  ({ id } = await world.api.streams.create(stream));
  await world.api.streams.create({ ...stream, tag: `${TAG}2` });
  writeFileSync(
    join(world.folder, 'none.yaml'),
    JSON.stringify({ tag: TAG, chainIds: ['0x7a69'] }),
  );
  writeFileSync(join(world.folder, 'bad.yaml'), `{"tag": "${TAG}\u001b[2J`);
});
afterAll(() => world.stop());

test.each([
  'streams list',
  'streams get ID',
  'streams pause ID',
  'streams resume ID',
  'streams get TAG-of-none',
  'streams create --tag TAG --url TAG',
  'streams update ID --max-per-second TAG',
  'explain TAG',
  'apply -f FOLDER/none.yaml --prune --yes --dry-run',
  'apply -f FOLDER/bad.yaml',
  'listen TAG',
  'deliveries list --columns TAG',
  'deliveries get TAG',
  'TAG',
  'streams delete ID --yes',
])('%s prints no control characters of untrusted text', async (command) => {
  const args = command
    .split(' ')
    .map((word) => word.replace('TAG', TAG).replace('FOLDER', world.folder).replace(/^ID$/, id));
  for (const tty of [true, false]) {
    const { stdout, stderr } = await world.sluice(args, { tty, env: { CI: '1' } });
    expect(stdout + stderr).not.toBe('');
    expect(stdout + stderr).not.toMatch(CONTROLS);
    expect(`${stdout}${stderr}`.split('\n').filter((line) => /^\s*✓ b/.test(line))).toEqual([]);
  }
});
