/** Tests the text, the JSON and the exit codes of commands. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sluice as sluiceAlone } from '../terminal/scripted.test-only.ts';
import { ALICE, BOB, TOKEN, type World, startWorld } from './world.test-only.ts';

let world: World;
let delivery: string;
/** Values of the capitalized placeholders in commands. */
let names: Record<string, string>;

beforeAll(async () => {
  world = await startWorld();
  const file = join(world.folder, 'addresses.txt');
  writeFileSync(file, `${ALICE}\n${BOB}\n`);
  const made = await world.sluice([
    ...['streams', 'create', '--url', world.sink.url, '--tag', 'pay', '--chain', '31337'],
    ...['--logs', '--address', TOKEN],
  ]);
  expect(made.stdout).toMatch(/^tag +pay$/m);
  world.pay(5n);
  delivery = await until('the webhook is delivered', async () => {
    const { result } = await world.client.listDeliveries({ state: 'succeeded' });
    return result.find(({ phase }) => phase === 'unconfirmed')?.id;
  });
  const { id: replay } = await world.client.createReplay({
    name: 'all of it',
    filter: { streamId: (await world.client.listStreamSummaries())[0]!.id },
    perSecond: 1_000,
  });
  names = { DELIVERY: delivery, FILE: file, REPLAY: replay, SINK: world.sink.url, ALICE, BOB };
  names = { ...names, URL: world.url, FOLDER: join(world.folder, 'fixtures') };
});
afterAll(() => world.stop());

const toArgs = (command: string): string[] => command.split(' ').map((word) => names[word] ?? word);

/** Commands with their expected text and JSON. Each command runs once for each format. */
const commands: [command: string, text: RegExp, data: object][] = [
  ['streams update pay --description mine', /^description +mine$/m, { description: 'mine' }],
  ['streams pause pay', /^Paused pay\n$/, { status: 'paused' }],
  ['streams resume pay', /^Resumed pay\n$/, { status: 'active' }],
  ['export', /^streams:\n {2}- tag: pay\n/, [{ tag: 'pay', fields: { chainIds: ['0x7a69'] } }]],
  ['addresses add pay ALICE --label Alice', /^Added 1 address to pay\n$/, { added: 1 }],
  [
    'addresses import pay FILE',
    /^Imported 2 addresses from \S+ to pay\n$/,
    { read: 2, rejected: 0 },
  ],
  ['addresses diff pay FILE', /^- 0x700b\S+\n$/, { added: [], removed: [{ address: TOKEN }] }],
  ['chains list', /^0x7a69 .* live .*\n {2}\S+ +good/, [{ id: '0x7a69', state: 'live' }]],
  [
    'deliveries get DELIVERY',
    /^state +succeeded$[\s\S]+^committedAt +20\S+Z$[\s\S]+^blockTime +20\S+Z$[\s\S]+TIMING[\s\S]+ wait \d+/m,
    { state: 'succeeded', attemptList: [{}] },
  ],
  ['deliveries payload DELIVERY', /^\{.*"tag":"pay".*\}$/, { tag: 'pay' }],
  ['deliveries payload DELIVERY --path $.tag', /^pay\n$/, 'pay' as unknown as object],
  ['explain DELIVERY', /^Block 1 of [\s\S]*^delivered {2}pay\n/m, { kind: 'delivery' }],
  ['replays list', /all of it/, [{ name: 'all of it' }]],
  ['replays get REPLAY', /^\S+ {2}all of it {2}\w+ /, { name: 'all of it' }],
  ['fixture save DELIVERY --dir FOLDER', /^\S+pay-1-unconfirmed-\w+\.json\n$/, { id: /./ }],
  ['fixture run FOLDER --to SINK', /^✓ 200 {2}\S+\n$/, { delivered: true, status: 200 }],
  ['trigger erc20-transfer --to SINK', /^✓ 200 {2}confirmed/, { delivered: true, status: 200 }],
  ['open deliveries', /^http\S+\/console\/deliveries\n$/, { url: /\/console\/deliveries$/ }],
  ['whoami', /from flags or variables {2}key …/, { source: 'flags' }],
  ['doctor', /^✓ sluice +/, [{ check: 'sluice', state: 'ok' }]],
];

test.each(commands)('%s prints text and, with --json, JSON', async (command, text, data) => {
  const people = await world.sluice(toArgs(command));
  expect(people.code, people.stderr).toBe(0);
  expect(people.stdout).toMatch(text);
  const machine = await world.sluice([...toArgs(command), '--json']);
  expect(machine.code, machine.stderr).toBe(0);
  expect(JSON.parse(machine.stdout)).toEqual(matching(data));
});

/** Returns a matcher for data with at least these fields. A pattern is matched against a string. */
const matching = (data: unknown): unknown => {
  if (data instanceof RegExp) return expect.stringMatching(data);
  if (Array.isArray(data)) {
    return data.length === 0 ? [] : expect.arrayContaining(data.map(matching));
  }
  if (typeof data !== 'object' || data === null) return data;
  return expect.objectContaining(
    Object.fromEntries(Object.entries(data).map(([name, value]) => [name, matching(value)])),
  );
};

test('commands that change something also print JSON', async () => {
  const json = async (command: string): Promise<unknown> =>
    JSON.parse((await world.sluice([...toArgs(command), '--json'])).stdout) as unknown;
  expect(await json('addresses remove pay BOB')).toEqual({ removed: 1 });
  expect(await json('addresses remove pay ALICE')).toEqual({ removed: 1 });
  expect(await json('addresses list pay')).toMatchObject({ address: TOKEN, addedBy: 'bootstrap' });
  const { id } = (await json('streams duplicate pay')) as { id: string };
  expect(await json(`streams delete ${id} --yes`)).toEqual({ id, deleted: true });
  // Fails because this replay has finished; interrupt.test.ts cancels a running one.
  expect(await world.sluice(toArgs('replays cancel REPLAY'))).toMatchObject({ code: 5 });
  const env = { XDG_CONFIG_HOME: join(world.folder, 'config') };
  const login = await world.sluice(['login', '--context', 'here', '--json'], { env });
  expect(JSON.parse(login.stdout)).toEqual({ context: 'here', apiUrl: world.url });
  const listed = await sluiceAlone(['context', 'list', '--json'], { env });
  expect(JSON.parse(listed.stdout)).toEqual([{ name: 'here', apiUrl: world.url, inUse: true }]);
});

const NOBODY = randomUUID();
test.each([
  [`streams pause ${NOBODY}`, 4],
  [`streams duplicate ${NOBODY}`, 4],
  [`streams delete ${NOBODY} --yes`, 4],
  [`addresses list ${NOBODY}`, 4],
  [`addresses add pay 0x12`, 2],
  [`addresses import pay nothing.csv`, 2],
  [`deliveries get ${NOBODY}`, 4],
  [`deliveries payload ${NOBODY}`, 4],
  [`deliveries list --state done`, 2],
  [`deliveries list --limit 0`, 2],
  [`explain ${NOBODY}`, 4],
  [`replays get ${NOBODY}`, 4],
  [`replays cancel ${NOBODY}`, 4],
  [`backfills resume ${NOBODY}`, 4],
  [`tail --stream ${NOBODY}`, 4],
  [`listen --stream ${NOBODY}`, 4],
  [`dry-run --stream ${NOBODY} --blocks 1`, 4],
  [`fixture save ${NOBODY}`, 4],
  [`fixture run nothing`, 2],
  [`chains resume 0x5`, 5],
  [`backup copy --data nothing`, 2],
  [`restore nothing --data data`, 2],
  [`apply`, 2],
  [`verify`, 2],
])('%s exits with %i, prints an error with a fix, and no data', async (command, code) => {
  const run = await world.sluice(toArgs(command));
  expect([run.code, run.stdout], run.stderr).toEqual([code, '']);
  expect(run.stderr).toMatch(/^error\[\w+\]: \S.*\n( {2}why: .+\n)*( {2}fix: .+\n)? {2}docs: /);
});

const DAMAGED = /^(--.)(.)(.)/;

test('every command has examples with its own flags, and rejects a mistyped flag', async () => {
  const toLeaves = async (path: string[]): Promise<string[][]> => {
    const { stdout } = await sluiceAlone([...path, '--help']);
    const children = stdout
      .split('\n\n')
      .filter(
        (part) =>
          /^[\w ]+:\n/.test(part) && !/^(Options|Arguments|Service options|Examples)/.test(part),
      )
      .flatMap((part) => [...part.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name = '']) => name));
    // Skips `help`, which Commander adds itself.
    if (path.at(-1) === 'help') return [];
    if (children.length === 0 || path.length === 2) return [path];
    return (await Promise.all(children.map((child) => toLeaves([...path, child])))).flat();
  };
  const leaves = await toLeaves([]);
  expect(leaves.length).toBeGreaterThan(50);
  for (const leaf of leaves) {
    const { stdout } = await sluiceAlone([...leaf, '--help']);
    const flags = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag = '']) => flag);
    expect(flags, leaf.join(' ')).not.toEqual([]);
    const [, examples = ''] = stdout.split('\nExamples:\n');
    expect(examples, leaf.join(' ')).toContain(`sluice ${leaf.join(' ')}`);
    for (const line of examples.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    const used = [...examples.matchAll(/ (--[\w-]+)/g)].map(([, flag]) => flag);
    expect(flags.concat('--no-logs'), leaf.join(' ')).toEqual(expect.arrayContaining(used));
    for (const flag of flags) {
      const mistyped = flag.replace(DAMAGED, '$1$3$2');
      if (mistyped === flag || flags.includes(mistyped)) continue;
      const { code, stdout: printed, stderr } = await sluiceAlone([...leaf, mistyped]);
      expect([code, printed], `${leaf.join(' ')} ${mistyped}`).toEqual([2, '']);
      expect(stderr).toContain(`error[usage]: unknown option '${mistyped}'\n  fix: Did you mean `);
      expect(stderr).toContain(flag);
    }
  }
});
