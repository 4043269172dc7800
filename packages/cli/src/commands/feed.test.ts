import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { unwrap } from '@sluice/kit';
import type { FeedConsumer, FeedDelivery } from '@sluice/kit/sluice';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Running } from '../terminal/scripted.test-only.ts';
import { SECRET, TOKEN, type World, startWorld } from './world.test-only.ts';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));

let world: World;

beforeAll(async () => {
  world = await startWorld();
  const created = await world.sluice([
    ...['streams', 'create', '--tag', 'pay', '--url', 'sluice://feed'],
    ...['--chain', '0x7a69', '--logs', '--address', TOKEN],
  ]);
  expect(created).toMatchObject({ code: 0, stderr: '' });
  world.chain.mine();
  for (const value of [1n, 2n, 3n]) world.pay(value);
  world.chain.mine();
  // Each payment is delivered unconfirmed and confirmed.
  await until('the feed is filled', async () => {
    const { id } = await findPay();
    return (await world.client.readFeed(id, { mode: 'each' })).newestPosition === 6;
  });
});
afterAll(() => world?.stop());

const findPay = async () =>
  (await world.client.listStreamSummaries()).find(({ tag }) => tag === 'pay')!;

const deliveriesOf = (output: string): FeedDelivery[] =>
  output
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as FeedDelivery);

/** Interrupts a command when it has printed this many deliveries, and returns them. */
async function readSome(running: Running, count: number): Promise<FeedDelivery[]> {
  await until('it prints', () => deliveriesOf(running.stdout()).length >= count);
  running.interrupt();
  const { code, stdout } = await running.ended;
  expect(code).toBe(130);
  return deliveriesOf(stdout);
}

const readConsumer = async (name: string): Promise<FeedConsumer | undefined> =>
  (await world.client.listFeedConsumers((await findPay()).id)).find((each) => each.name === name);

test('feed prints all deliveries after a position, with exact bodies and headers', async () => {
  const read = await readSome(world.start(['feed', 'pay', '--after', '4', '--headers']), 2);
  expect(read.map((each) => each.position)).toEqual([5, 6]);
  for (const { headers, body, id } of read) {
    expect(unwrap({ headers, body, secret: SECRET })).toMatchObject({ id });
  }
  const [bare] = await readSome(world.start(['feed', 'pay', '--after', '5']), 1);
  expect(Object.keys(bare!)).toEqual(['id', 'position', 'body']);
  expect(await world.client.listFeedConsumers((await findPay()).id)).toEqual([]);
});

test('feed --ack acknowledges what it printed, also when Ctrl-C ends it', async () => {
  const running = world.start(['feed', 'pay', '--consumer', 'billing', '--ack']);
  const read = await readSome(running, 6);
  expect(read.map((each) => each.position)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(running.stderr()).toBe('');
  expect(await readConsumer('billing')).toMatchObject({ position: 6, unread: 0, leased: 0 });
});

test('feed --consumer without --ack leaves the deliveries leased, with a hint', async () => {
  const running = world.start(['feed', 'pay', '--consumer', 'peek']);
  await readSome(running, 6);
  expect(running.stderr()).toContain('pass --ack');
  expect(await readConsumer('peek')).toMatchObject({ position: 0, unread: 0, leased: 6 });
});

test('a reader that closes the pipe ends feed without an error', async () => {
  const command = `"${process.execPath}" -C @sluice/source "${main}" feed pay --after 0 | head -n 1`;
  const child = spawn('sh', ['-c', command], {
    env: { ...process.env, ...world.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const timer = setInterval(() => world.pay(9n), 500);
  const [code] = (await once(child, 'close')) as [number];
  clearInterval(timer);
  expect(code).toBe(0);
  expect(deliveriesOf(output).map((each) => each.position)).toEqual([1]);
});

test('feed reset moves a consumer, consumers lists it, and delete deletes it', async () => {
  const reset = (...flags: string[]) => world.sluice(['feed', 'reset', 'pay', 'audit', ...flags]);
  expect((await reset('--position', '2')).stdout).toMatch(/^audit continues after position 2, /);
  for (const [flags, position] of [
    [['--to', 'start'], 0],
    [['--time', '1h'], 0],
    [['--chain', '0x7a69', '--block', '0'], 0],
    [['--position', '3'], 3],
  ] as const) {
    const { stdout } = await reset(...flags, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ name: 'audit', position });
  }
  const { stdout } = await world.sluice([
    ...['feed', 'consumers', 'pay', '--columns', 'consumer,position,leased,missed'],
  ]);
  expect(stdout).toMatch(/^CONSUMER +POSITION +LEASED +MISSED\naudit +3 +0 +0\n/);
  const listed = await world.sluice(['feed', 'consumers', 'pay', '--json']);
  expect((JSON.parse(listed.stdout) as FeedConsumer[]).map(({ name }) => name)).toContain('audit');

  const unconfirmed = await world.sluice(['feed', 'delete', 'pay', 'audit']);
  expect(unconfirmed).toMatchObject({ code: 2, stdout: '' });
  const deleted = await world.sluice(['feed', 'delete', 'pay', 'audit', '--yes']);
  expect(deleted.stdout).toBe('Deleted audit\n');
  expect(await readConsumer('audit')).toBeUndefined();
});

test.each([
  [['pay', '--mode', 'share'], '--consumer is required'],
  [['pay', '--consumer', 'a', '--after', '1'], '--after needs --mode each'],
  [['pay', '--ack'], '--ack needs --mode share'],
  [['pay', '--after', 'x'], '--after x: should be a whole number'],
  [['reset', 'pay', 'a'], 'Pass one of --to'],
  [['reset', 'pay', 'a', '--to', 'end', '--position', '1'], 'Pass one of --to'],
  [['reset', 'pay', 'a', '--block', '1'], '--block and --chain need each other'],
])('feed %j is refused: %s', async (args, message) => {
  const { code, stderr } = await world.sluice(['feed', ...args]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test('completion offers subcommands and streams', async () => {
  const complete = async (...words: string[]) =>
    (await world.sluice(['complete', '--', 'feed', ...words])).stdout.split('\n').filter(Boolean);
  expect(await complete('')).toEqual(['consumers', 'reset', 'delete', 'pay']);
  expect(await complete('reset', '')).toEqual(['pay']);
  expect(await complete('pay', '--mode', '')).toEqual(['share', 'each']);
});
