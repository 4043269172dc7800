/** Tests that the documented commands run and print the output that follows them on the page. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  HOSTED_KEY,
  type Hosted,
  startHosted,
} from '../../packages/cli/src/commands/hosted.test-only.ts';
import { type World, startWorld } from '../../packages/cli/src/commands/world.test-only.ts';
import { prints } from './programs.ts';

const docs = new URL('../../docs/', import.meta.url);

/** Returns each block of commands that is directly followed by its output, and the output. */
const examplesOf = (page: string) =>
  [...page.matchAll(/^```sh\n((?:sluice .*\n)+)```\n\n```text\n([\s\S]*?)^```$/gm)].map(
    ([, commands = '', output = '']) => [commands.trim().split('\n'), output] as const,
  );

const pages = readdirSync(docs)
  .filter((name) => name.endsWith('.md'))
  .map((name) => [name, readFileSync(new URL(name, docs), 'utf8')] as const)
  .filter(([, page]) => examplesOf(page).length > 0);

test('these pages have examples', () =>
  expect(pages.map(([name]) => name)).toEqual([
    'calls.md',
    'cli.md',
    'factories.md',
    'filter.md',
    'migrate.md',
    'reorgs.md',
    'rules.md',
  ]));

describe.each(pages)('%s', (_, page) => {
  let world: World;
  let hosted: Hosted;

  beforeAll(async () => {
    [world, hosted] = await Promise.all([startWorld(), startHosted({ addresses: 250 })]);
    for (const [, name = '', yaml = ''] of page.matchAll(
      /^```yaml\n# (\w+\.yaml)\n([\s\S]*?)^```$/gm,
    )) {
      writeFileSync(join(world.folder, name), toWorld(yaml));
    }
    for (const [, name = '', json = ''] of page.matchAll(
      /`(\w+\.json)`.*:\n\n```json\n([\s\S]*?)^```$/gm,
    )) {
      writeFileSync(join(world.folder, name), toWorld(json));
    }
    writeFileSync(join(world.folder, 'body.json'), '{"tag":"a","confirmed":true}');
    if (!page.includes('deliveries list')) world.pay(250n);
  });
  afterAll(async () => {
    hosted.stop();
    await world.stop();
  });

  /** Replaces the app's URL, the files and the key for the hosted service with the test's own. */
  const toWorld = (text: string): string =>
    text
      .replaceAll('http://127.0.0.1:3000', world.sink.url)
      .replaceAll(/\b(\w+\.(?:yaml|json))\b/g, join(world.folder, '$1'))
      .replaceAll('YOUR_KEY', `${HOSTED_KEY} --hosted-url ${hosted.url}`);

  test.each(examplesOf(page))('%j', async (commands, output) => {
    // A delivery must exist before the command lists it.
    if (commands[0]!.includes('deliveries list')) {
      world.pay(250n);
      await until('the delivery succeeds', async () => {
        const { result } = await world.client.listDeliveries();
        return result[0]?.state === 'succeeded';
      });
    }
    let run = { stdout: '', stderr: '' };
    for (const command of commands) run = await world.sluice(toArgs(toWorld(command)));
    const { stdout } = run;
    // The pages write `sluice` instead of the command for a checkout, and files without a folder.
    const stderr = run.stderr
      .replaceAll('npm run -s sluice --', 'sluice')
      .replaceAll(join(world.folder, '/'), '');
    // If stdout is empty, the page shows stderr: all of it for an error, and otherwise only some of
    // its lines.
    const isRight =
      stdout === ''
        ? prints(output, stderr, output.startsWith('error') ? 'all' : 'lines in it')
        : prints(output, stdout, 'all');
    expect(isRight, stdout + stderr).toBe(true);
  });
});

const toArgs = (command: string): string[] =>
  [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!).slice(1);
