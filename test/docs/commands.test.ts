/** docs/cli.md: each command that stands before an output is run, and prints what the page says. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type World, startWorld, until } from '../../packages/cli/src/commands/world.test-only.ts';
import { prints } from './programs.ts';

const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
/** A block of commands and the block of output right after it. */
const examples = [
  ...page.matchAll(/^```sh\n((?:sluice .*\n)+)```\n\n```text\n([\s\S]*?)^```$/gm),
].map(([, commands = '', output = '']) => [commands.trim().split('\n'), output] as const);
const declared = /^```yaml\n# sluice\.yaml\n([\s\S]*?)^```$/m.exec(page)?.[1];
let world: World;

beforeAll(async () => {
  world = await startWorld();
  writeFileSync(join(world.folder, 'sluice.yaml'), toWorld(declared!));
  writeFileSync(join(world.folder, 'body.json'), '{"tag":"a","confirmed":true}');
});
afterAll(() => world.stop());

/** The reader's app is the world's receiver, the reader's folder the world's. */
const toWorld = (text: string): string =>
  text
    .replaceAll('http://127.0.0.1:3000', world.sink.url)
    .replaceAll(/\b(sluice\.yaml|body\.json)\b/g, join(world.folder, '$1'));

const toArgs = (command: string): string[] =>
  [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!).slice(1);

test('the page has examples', () => expect(examples.length).toBeGreaterThan(7));

test.each(examples)('%j', async (commands, output) => {
  // Once there is a stream, there is something to tell of.
  if (commands[0]!.includes('deliveries list')) {
    world.pay(250n);
    await until('it is delivered', async () => {
      const { result } = await world.client.listDeliveries();
      return result[0]?.state === 'succeeded';
    });
  }
  let printed = '';
  for (const command of commands) {
    const { stdout, stderr } = await world.sluice(toArgs(toWorld(command)));
    printed = output.startsWith('error') ? stderr : stdout;
  }
  expect(prints(output, printed, 'all'), printed).toBe(true);
});
