import { afterAll, beforeAll, expect, test } from 'vitest';
import { TOKEN, type World, startWorld } from './world.test-only.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
  const created = await world.sluice([
    ...['streams', 'create', '--tag', 'pay', '--url', 'sluice://inbox/pay'],
    ...['--chain', '0x7a69', '--logs', '--address', TOKEN],
  ]);
  expect(created).toMatchObject({ code: 0, stderr: '' });
});
afterAll(() => world?.stop());

test('destinations are added, listed, changed and removed by number', async () => {
  const none = await world.sluice(['destinations', 'list', 'pay']);
  expect(none).toMatchObject({ code: 0, stdout: '' });
  expect(none.stderr).toContain('No additional destinations');
  const added = await world.sluice(['destinations', 'add', 'pay', '--url', 'sluice://feed']);
  expect(added).toMatchObject({ code: 0, stdout: 'Destination 1  sluice://feed  active\n' });
  const changed = await world.sluice([
    ...['destinations', 'update', 'pay', '1', '--strict-order', '--json'],
  ]);
  expect(JSON.parse(changed.stdout)).toMatchObject({ destination: 1, strictOrder: true });
  const listed = await world.sluice(['destinations', 'list', 'pay']);
  expect(listed.stdout).toMatch(/1\s+sluice:\/\/feed\s+active/);
  const removed = await world.sluice(['destinations', 'remove', 'pay', '1', '-y']);
  expect(removed).toMatchObject({ code: 0, stdout: 'Removed destination 1\n' });
  const again = await world.sluice(['destinations', 'remove', 'pay', '1', '-y']);
  expect(again.code).not.toBe(0);
  expect(again.stderr).toContain('Destination');
});

test('a destination needs a URL, and the service names an invalid one', async () => {
  const without = await world.sluice(['destinations', 'add', 'pay']);
  expect(without.stderr).toContain('--url is required');
  const invalid = await world.sluice(['destinations', 'add', 'pay', '--url', 'nowhere']);
  expect(invalid.stderr).toContain('webhookUrl');
});
