/** Tests that empty lists explain why they are empty, or what to do next. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type World, startWorld } from './world.test-only.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const noteOf = async (command: string): Promise<string> => {
  const { code, stdout, stderr } = await world.sluice(command.split(' '), {
    env: { XDG_CONFIG_HOME: world.folder },
  });
  expect([code, stdout], stderr).toEqual([0, '']);
  return stderr.trim();
};

test('an empty list explains what to do', async () => {
  const create = 'Create one: npm run -s sluice -- streams create --help';
  expect(await noteOf('streams list')).toBe(`No streams yet. ${create}`);
  expect(await noteOf('deliveries list')).toBe(
    `No deliveries yet, because there are no streams.\n${create}`,
  );
  expect(await noteOf('replays list')).toMatch(/^No replays yet\. /);
  expect(await noteOf('backfills list')).toBe(
    'No backfills yet. Create one: npm run -s sluice -- backfills create --help',
  );
  expect(await noteOf('context list')).toMatch(/^No saved services yet\. /);

  await world.api.streams.create({
    webhookUrl: world.sink.url,
    description: '',
    tag: 'pay',
    chainIds: ['0x7a69'],
  });
  expect(await noteOf('deliveries list')).toMatch(/^No deliveries yet\. Blocks that match/);
  expect(await noteOf('deliveries list --stream pay --failed')).toBe(
    'No deliveries match these flags.\nList all: npm run -s sluice -- deliveries list',
  );
});
