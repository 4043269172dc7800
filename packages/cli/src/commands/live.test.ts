/** Tests the live commands: `listen`, `tail`, `trigger` and `replay`. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type EvmWebhook, createHandler, unwrap } from '@sluice/kit';
import { toNodeListener } from '@sluice/kit/node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { scripted, startFaultProxy, until } from '@sluice/testkit';
import { ALICE, BOB, SECRET, TOKEN, type World, startWorld } from './world.test-only.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
  const stream = await world.api.streams.create({
    webhookUrl: `${world.sink.url}/real`,
    description: '',
    tag: 'pay',
    chainIds: ['0x7a69'],
    includeContractLogs: true,
    headers: { 'x-team': 'ledger' },
  });
  await world.api.streams.addAddress(stream.id, TOKEN);
});
afterAll(() => world.stop());
beforeEach(() => world.sink.clear());

const idsAt = (path: string): string[] =>
  world.sink.requests.filter((each) => each.path === path).map(({ id }) => id);

const paidAt = (path: string): number[] =>
  world.sink.requests
    .filter((each) => each.path === path)
    .map(({ body }) => Number((JSON.parse(body) as EvmWebhook).erc20Transfers[0]?.value));

const app = (path: string): string => `${world.sink.url}${path}`;

test('completion suggests streams, chains and deliveries, and nothing without a service', async () => {
  const complete = async (...words: string[]): Promise<string> =>
    (await world.sluice(['complete', '--', ...words])).stdout;
  expect(await complete('streams', 'pause', '')).toBe('pay\n');
  expect(await complete('tail', '--stream', 'p')).toBe('pay\n');
  expect(await complete('explain', '1', '--chain', '0x')).toBe('0x7a69\n');
  world.pay(9n);
  await world.sink.waitFor(1);
  const { result } = await world.client.listDeliveries();
  expect((await complete('deliveries', 'get', '')).split('\n')).toContain(result[0]!.id);
  const env = { SLUICE_API_URL: 'http://127.0.0.1:9' };
  expect(await world.sluice(['complete', '--', 'streams', 'get', ''], { env })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
});

describe('listen', () => {
  let running: ReturnType<World['start']> | undefined;
  afterEach(async () => {
    running?.interrupt();
    await running?.ended;
  });

  test('forwards each new delivery once, with valid signatures', async () => {
    world.pay(1n);
    await world.sink.waitFor(1);
    running = world.start(['listen', app('/app')]);
    await until('listen has started', () => running!.stderr().includes('Forwarding all streams'));
    await new Promise((resolve) => setTimeout(resolve, 200));
    for (const value of [2n, 3n, 4n]) world.pay(value);
    await until('all deliveries are forwarded', () => idsAt('/app').length >= 6);
    const forwarded = world.sink.requests
      .filter(({ path }) => path === '/app')
      .map(({ body }) => JSON.parse(body) as EvmWebhook);
    const news = forwarded.filter(({ confirmed }) => !confirmed);
    const values = news.map(({ erc20Transfers }) => erc20Transfers[0]?.value);
    expect(new Set(values)).toEqual(new Set(['2', '3', '4']));
    expect(new Set(idsAt('/app')).size).toBe(forwarded.length);
    const { headers, body } = world.sink.requests.find(({ path }) => path === '/app')!;
    expect(unwrap({ headers, body, secret: SECRET }).verifiedBy).toBe('webhook-signature');
    const { streamId } = JSON.parse(body) as EvmWebhook;
    const { secret } = await world.client.getStreamSecret(streamId);
    expect(unwrap({ headers, body, secret }).verifiedBy).toBe('webhook-signature');
    expect(headers).toMatchObject({ 'x-team': 'ledger' });
    expect(running.stdout()).toMatch(
      /^\d\d:\d\d:\d\d {2}✓ 200 +\d+ ms {2}pay {2}#\d+ (un)?confirmed {2}Transfer \d+ 0x7099…79c8 → .+\n/,
    );
    running.interrupt();
    expect(await running.ended).toMatchObject({ code: 130 });
  });

  test('neither loses nor repeats deliveries when the connection drops and the service restarts', async () => {
    const proxy = await startFaultProxy({ port: Number(new URL(world.url).port) });
    running = world.start(['listen', app('/dropped'), '--json', '--events', 'unconfirmed'], {
      env: { SLUICE_API_URL: `http://127.0.0.1:${proxy.port}` },
    });
    await until('listen has started', () => running!.stderr().includes('Forwarding'));
    world.pay(10n);
    await until('the first is forwarded', () => paidAt('/dropped').includes(10));
    proxy.cut();
    world.pay(11n);
    await until('the lost connection is reported', () =>
      running!.stderr().includes('Connection lost'),
    );
    proxy.heal();
    await until('the second is forwarded', () => paidAt('/dropped').includes(11), 30_000);
    await world.restart();
    world.pay(12n);
    await until('the third is forwarded', () => paidAt('/dropped').includes(12), 30_000);
    expect(paidAt('/dropped').filter((value) => value >= 10)).toEqual([10, 11, 12]);
    expect(new Set(idsAt('/dropped')).size).toBe(idsAt('/dropped').length);
    expect(running.stderr()).toContain('Reconnected');
    const printed = await until('all deliveries are printed', () => {
      const lines = running!.stdout().trim().split('\n');
      return lines.length === idsAt('/dropped').length && lines;
    });
    expect(JSON.parse(printed.at(-1)!)).toMatchObject({
      tag: 'pay',
      phase: 'unconfirmed',
      status: 200,
      error: null,
    });
    await proxy.stop();
  }, 90_000);

  test('shows error responses of the app and continues', async () => {
    world.sink.respond({ status: 500 }, { path: '/broken' });
    running = world.start(['listen', app('/broken'), '--events', 'unconfirmed']);
    await until('listen has started', () => running!.stderr().includes('Forwarding'));
    await new Promise((resolve) => setTimeout(resolve, 200));
    world.pay(20n);
    world.pay(21n);
    await until('both failures are printed', () => running!.stdout().split('✗ 500').length === 3);
    expect(running.stdout()).toContain('HTTP 500');
  });

  test('on a terminal: move, inspect, replay, copy as curl, quit', async () => {
    running = world.start(['listen', app('/seen'), '--events', 'unconfirmed'], { tty: true });
    await until('listen has started', () =>
      running!.stdout().includes('waiting for the first delivery'),
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    world.pay(30n);
    await until('the delivery is in the list', () => running!.stdout().includes('Transfer 30 '));
    running.type('\r');
    await until('the body is shown', () => running!.stdout().includes('"confirmed": false'));
    running.type('r');
    await until(
      'the webhook is sent again',
      () => paidAt('/seen').filter((value) => value === 30).length === 2,
    );
    running.type('c');
    const copied = await until(
      'the command is copied',
      () => /\]52;c;([\w+/=]+)/.exec(running!.stdout())?.[1],
    );
    expect(Buffer.from(copied, 'base64').toString()).toMatch(/^curl -X POST \S+\/seen \\\n {2}-H /);
    running.type('q');
    expect(await running.ended).toMatchObject({ code: 0 });
    expect(running.stdout()).toMatch(/\[\?1049l/);
  });

  test('--print-secret prints the secret and exits; an invalid port is rejected', async () => {
    expect(await world.sluice(['listen', '--print-secret'])).toMatchObject({
      stdout: `${SECRET}\n`,
    });
    for (const port of ['70000', 'abc', 'http://']) {
      expect(await world.sluice(['listen', port])).toMatchObject({ code: 2 });
    }
    expect(await world.sluice(['listen', '--evnts', 'confirmed'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean --events?') as string,
    });
  });
});

test('tail prints each delivery as text and as JSON Lines', async () => {
  const [people, lines] = [
    world.start(['tail']),
    world.start(['tail', '--json', '--state', 'succeeded', '--since', '1h']),
  ];
  await until('the deliveries of the last hour are printed', () => lines.stdout() !== '');
  world.pay(40n);
  await until('the new delivery is printed', () =>
    /✓ 200 +\d+ ms {2}pay {2}#\d+ unconfirmed {2}Transfer 40 0x/.test(people.stdout()),
  );
  people.interrupt();
  lines.interrupt();
  expect(await people.ended).toMatchObject({ code: 130, stderr: '' });
  const { stdout } = await lines.ended;
  const printed = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; state: string });
  expect(new Set(printed.map(({ id }) => id)).size).toBe(printed.length);
  expect(printed.every(({ state }) => state === 'succeeded')).toBe(true);
});

describe('trigger', () => {
  const trigger = (...args: string[]) =>
    world.sluice(['trigger', ...args, ...(args.includes('--to') ? [] : ['--to', app('/app')])]);

  test.each([
    ['erc20-transfer', 'Transfer 250 USDC 0x0a1a…9419 → 0xc5b4…4c14'],
    ['native-transfer', '0.1 ETH 0x0a1a…9419 → 0xc5b4…4c14'],
    ['internal-transfer', '0.002419… ETH 0x0a1a…9419 → 0xc5b4…4c14'],
    ['call', 'transfer 0x0a1a…9419 → 0xa0b8…eb48'],
    ['failed-call', 'transfer 0x0a1a…9419 → 0xa0b8…eb48 failed'],
    ['read', 'Balance 1,250 → 750 at 0x0a1a…9419'],
    ['aptos-coin-transfer', '1.5 APT'],
    ['test', ''],
  ])('%s arrives as the service would send it', async (kind, line) => {
    const { code, stdout } = await trigger(kind);
    expect(code).toBe(0);
    expect(stdout).toContain('✓ 200');
    expect(stdout).toContain(line);
    const [{ headers, body }] = world.sink.requests as [(typeof world.sink.requests)[number]];
    expect(() => unwrap({ headers, body, secret: SECRET, family: 'any' })).not.toThrow();
  });

  test('sends both phases, a reorg or several webhooks', async () => {
    const phases = async (...args: string[]) => {
      world.sink.clear();
      await trigger('erc20-transfer', ...args);
      return world.sink.requests.map(({ body }) => {
        const { confirmed, removed, block } = JSON.parse(body) as {
          confirmed: boolean;
          removed?: boolean;
          block: { number: string };
        };
        return `${block.number} ${removed ? 'removed' : confirmed}`;
      });
    };
    expect(await phases()).toEqual(['16225662 true']);
    expect(await phases('--unconfirmed')).toEqual(['16225662 false']);
    expect(await phases('--both')).toEqual(['16225662 false', '16225662 true']);
    expect(await phases('--reorg')).toEqual(['16225662 false', '16225662 removed']);
    expect(await phases('--count', '3', '--rate', '100')).toEqual([
      '16225662 true',
      '16225663 true',
      '16225664 true',
    ]);
  });

  test('an app without its own ABI decodes each kind, once', async () => {
    const events: unknown[] = [];
    const handler = createHandler({ secret: SECRET })
      .on('Transfer', ({ args }) => void events.push(args['value']))
      .on('ApprovalForAll', ({ args }) => void events.push(args['approved']))
      .on('TransferSingle', ({ args }) => void events.push(args['id']))
      .on('Approval', {
        unconfirmed: () => void events.push('unconfirmed'),
        confirmed: () => void events.push('confirmed'),
      })
      .onRemoved(({ block }) => void events.push(`removed ${block.number}`));
    const listener = toNodeListener(handler);
    const server = createServer((request, response) => void listener(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const to = ['--to', String((server.address() as AddressInfo).port)];
    const eventsOf = async (...args: string[]): Promise<unknown[]> => {
      events.length = 0;
      expect(await trigger(...args, ...to)).toMatchObject({ code: 0 });
      return [...events];
    };
    const usdc = 250_000_000n;
    expect(await eventsOf('erc20-transfer')).toEqual([usdc]);
    expect(await eventsOf('erc20-transfer', '--both')).toEqual([usdc]);
    expect(await eventsOf('erc20-transfer', '--reorg')).toEqual(['removed 16225662']);
    expect(await eventsOf('erc20-transfer', '--count', '3', '--rate', '100')).toEqual([
      ...[usdc, usdc, usdc],
    ]);
    for (let run = 0; run < 2; run++) {
      const phases = await eventsOf('erc20-approval', '--both');
      expect(phases).toEqual(['unconfirmed', 'confirmed']);
    }
    expect(await eventsOf('nft-approval-for-all')).toEqual([true]);
    expect(await eventsOf('erc1155-transfer')).toEqual([expect.any(BigInt)]);
    world.pay(78n);
    const { hash } = world.chain.head.transactions[0]!;
    await until(
      'the block is read',
      async () => (await world.sluice(['explain', hash, '--expect', 'delivered'])).code === 0,
    );
    expect(await eventsOf('transaction', '--from-tx', hash)).toEqual([78n]);

    server.close();
    server.closeAllConnections();
  });

  test('edits the body with --set or in an editor', async () => {
    const set = ['--set', 'erc20Transfers[0].value=1.5e18', 'tag=mine'];
    await trigger('erc20-transfer', ...set);
    expect(JSON.parse(world.sink.requests[0]!.body)).toMatchObject({
      tag: 'mine',
      erc20Transfers: [{ value: '1500000000000000000' }],
    });
    const wrong = await trigger('erc20-transfer', '--set', 'logs[3].data=0x');
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.stderr).toContain(
      '--set logs[3].data: "3" does not exist\n  fix: use one of these keys of logs: 0',
    );
    world.sink.clear();
    const edited = await world.sluice(
      ['trigger', 'erc20-transfer', '--edit', '--to', app('/app')],
      {
        env: { VISUAL: `sed -i 's/"sample"/"by hand"/'` },
      },
    );
    expect(edited).toMatchObject({ code: 0 });
    expect(JSON.parse(world.sink.requests[0]!.body)).toMatchObject({ tag: 'by hand' });
  });

  test('imitates a stream, with its URL', async () => {
    expect(await world.sluice(['trigger', 'erc20-transfer', '--stream', 'pay'])).toMatchObject({
      code: 0,
    });
    const [{ path, body }] = world.sink.requests as [(typeof world.sink.requests)[number]];
    expect(path).toBe('/real');
    expect(JSON.parse(body)).toMatchObject({ tag: 'pay' });
  });

  test('sends a real transaction of a followed chain', async () => {
    world.pay(77n);
    const { hash } = world.chain.head.transactions[0]!;
    const { stdout } = await until('the block is read', async () => {
      const run = await trigger('transaction', '--from-tx', hash);
      return run.code === 0 && run;
    });
    expect(stdout).toContain('Transfer 77 ');
    const bare = world.chain.mine({
      transactions: [scripted.transfer({ from: ALICE, to: BOB, value: 5n })],
    }).transactions[0]!.hash;
    expect(await trigger('transaction', '--from-tx', bare)).toMatchObject({ code: 4 });
    const touching = await trigger('transaction', '--from-tx', bare, '--touching', BOB);
    expect(touching.stdout).toContain('<0.000001 ETH');
    const missing = await trigger('transaction', '--from-tx', `0x${'1'.repeat(64)}`);
    expect(missing).toMatchObject({ code: 4 });
  });

  test('the exit code is 9 if the receiver rejects or is unreachable', async () => {
    world.sink.respond({ status: 401 }, { path: '/no' });
    const refused = await trigger('erc20-transfer', '--to', app('/no'));
    expect(refused).toMatchObject({ code: 9 });
    expect(refused.stdout).toContain('✗ HTTP 401');
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    const gone = await trigger('erc20-transfer', '--to', String(port));
    expect([gone.code, gone.stdout]).toEqual([9, expect.stringMatching(/^✗ ECONNREFUSED {2}/)]);
    expect(await trigger('erc20-transfr')).toMatchObject({ code: 2 });
    expect(await trigger('erc20-transfer', '--both', '--reorg')).toMatchObject({ code: 2 });
  });
});

test('replay sends a delivery again, through the service or directly to another URL', async () => {
  world.pay(50n);
  const { id } = await world.sink.waitFor((each) => each.body.includes('"value":"50"'));
  await until(
    'the webhook is delivered',
    async () => (await world.client.getDelivery(id)).state === 'succeeded',
  );
  world.sink.clear();
  const queued = await world.sluice(['replay', id]);
  expect(queued).toMatchObject({ code: 0, stdout: `✓ queued ${id} for ${app('/real')}\n` });
  expect(queued.stderr).toContain('1 queued');
  await world.sink.waitFor((each) => each.id === id && each.path === '/real');
  const local = await world.sluice(['replay', id, '--to', app('/local'), '--json']);
  expect(JSON.parse(local.stdout)).toMatchObject({ id, url: app('/local'), status: 200 });
  expect(idsAt('/local')).toEqual([id]);
  expect(await world.sluice(['replay', '00000000-0000-7000-8000-000000000000'])).toMatchObject({
    code: 4,
  });
  expect(await world.sluice(['replay', id, '--to', 'http://127.0.0.1:9'])).toMatchObject({
    code: 8,
  });
});

test('explain shows why a webhook was or was not sent', async () => {
  const other = { tag: 'other', description: '', chainIds: ['0x7a69'], includeContractLogs: true };
  await world.api.streams.create({ webhookUrl: app('/other'), ...other });
  world.pay(60n);
  const { hash } = world.chain.head.transactions[0]!;
  const { stdout } = await until('the webhook is delivered', async () => {
    const run = await world.sluice(['explain', hash, '--expect', 'delivered']);
    return run.code === 0 && run;
  });
  expect(stdout).toMatch(/^ {2}✓ seen /m);
  expect(stdout).toMatch(/^delivered {2}pay\n[\s\S]*^not-matched {2}other\n {2}✗ /m);
  const only = ['explain', hash, '--stream', 'other', '--stages'];
  expect((await world.sluice(only)).stdout).toMatch(/✓ chain [\s\S]*✗ /);
  expect(await world.sluice([...only, '--expect', 'delivered'])).toMatchObject({ code: 9 });
  const explanation = JSON.parse((await world.sluice([...only, '--json'])).stdout) as object;
  expect(explanation).toMatchObject({ kind: 'transaction', streams: [{ verdict: 'not-matched' }] });
  expect(await world.sluice(['explain', `0x${'1'.repeat(64)}`])).toMatchObject({ code: 4 });
});

test('a selection is counted, confirmed, replayed by the service and followed', async () => {
  const blocks = `1..${world.chain.head.number}`;
  const selection = ['replay', '--stream', 'pay', '--state', 'succeeded', '--blocks', blocks];
  const { deliveries } = JSON.parse(
    (await world.sluice([...selection, '--dry-run', '--json'])).stdout,
  ) as { deliveries: number };
  expect(deliveries).toBeGreaterThan(3);
  expect(await world.sluice(selection)).toMatchObject({ code: 2 });
  world.sink.clear();
  const sent = await world.sluice([...selection, '--yes', '--wait', '--rate', '1000', '--json']);
  expect(sent).toMatchObject({ code: 0 });
  const replayed = JSON.parse(sent.stdout) as { id: string };
  expect(replayed).toMatchObject({ state: 'done', replayed: deliveries, succeeded: deliveries });
  expect(new Set(idsAt('/real')).size).toBe(deliveries);
  expect((await world.sluice(['replays', 'get', replayed.id])).stdout).toContain('done');
  expect((await world.sluice(['replays', 'list'])).stdout).toMatch(
    /^REPLAY .*\n.*sluice replay +done /,
  );

  const local = [...selection, '--to', app('/selected'), '--phase', 'unconfirmed'];
  expect(await world.sluice(local)).toMatchObject({ code: 0 });
  expect(idsAt('/selected').length).toBeGreaterThan(1);
  expect(await world.sluice(['replay'])).toMatchObject({ code: 2 });

  // `--dry-run` sends nothing, even with `--to` or IDs.
  world.sink.clear();
  const dry = JSON.parse((await world.sluice([...local, '--dry-run', '--json'])).stdout) as {
    deliveries: number;
  };
  expect(dry.deliveries).toBeGreaterThan(1);
  const [one] = (await world.client.listDeliveries()).result;
  expect(await world.sluice(['replay', one!.id, '--dry-run'])).toMatchObject({
    code: 0,
    stdout: '1 delivery\n',
  });
  expect(world.sink.requests).toEqual([]);

  // Without `--state`, succeeded deliveries are excluded. All deliveries of these blocks have
  // succeeded.
  const anyState = ['replay', '--stream', 'pay', '--blocks', blocks, '--dry-run'];
  const safe = await world.sluice(anyState);
  expect(safe.stdout).toBe('0 deliveries, about 0 kB\n');
  expect(safe.stderr).toContain(`${deliveries} more succeeded; add --include-delivered`);
  const whole = await world.sluice([...anyState, '--include-delivered', '--json']);
  expect(JSON.parse(whole.stdout)).toMatchObject({ deliveries });

  // Both flags and ids narrow the selection.
  const [first, second] = (await world.client.listDeliveries()).result;
  const countOf = async (...flags: string[]): Promise<number> => {
    const { stdout, stderr } = await world.sluice([...selection, ...flags, '--dry-run', '--json']);
    return stderr === '' ? (JSON.parse(stdout) as { deliveries: number }).deliveries : -1;
  };
  const every = await countOf();
  expect(await countOf('--address', ALICE)).toBe(every);
  expect(await countOf('--address', `0x${'5'.repeat(40)}`)).toBe(0);
  expect(await countOf('--body', '$.logs[*].address')).toBe(every);
  expect(await countOf('--body', '$.logs[*].address = 0x5')).toBe(0);
  expect(await countOf('--no-reorged', '--attempts', '1..', '--replay', replayed.id)).toBe(every);
  expect(await countOf('--reorged')).toBe(0);
  expect(await countOf('--attempts', '..1')).toBeLessThan(every);
  expect(await countOf('--error', 'ECONNREFUSED')).toBe(0);
  expect(await countOf('--chain', '0x7a69', '0x1', '--stream', 'pay', 'pay')).toBe(every);
  expect(
    await world.sluice(['replay', first!.id, second!.id, '--reorged', '--dry-run']),
  ).toMatchObject({ stdout: '0 deliveries, about 0 kB\n' });
  const complete = ['complete', '--', 'replay', '--replay', replayed.id.slice(0, 8)];
  expect((await world.sluice(complete)).stdout.split('\n')).toContain(replayed.id);
  const listed = ['deliveries', 'list', '--stream', 'pay', '--replay', replayed.id, '--json'];
  const { stdout } = await world.sluice([...listed, '--limit', '3']);
  expect(JSON.parse(stdout)).toHaveLength(3);
  expect(await world.sluice([...selection, '--attempts', '3..1'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--attempts 3..1: should be') as string,
  });
});

test('deliveries of a deleted stream are found by its id but only sent directly', async () => {
  const fields = { description: '', chainIds: ['0x7a69'], includeContractLogs: true };
  const { id } = await world.api.streams.create({
    webhookUrl: app('/gone'),
    tag: 'gone',
    topic0: ['Transfer(address,address,uint256)'],
    ...fields,
    allAddresses: true,
  });
  world.pay(70n);
  await until('the webhook is delivered', async () => {
    const { result } = await world.client.listDeliveries({ streamId: id, state: 'succeeded' });
    return result.length > 0;
  });
  await world.api.streams.delete(id);
  const before = idsAt('/gone').length;
  expect(await world.sluice(['replay', '--stream', 'gone', '--yes'])).toMatchObject({ code: 4 });
  expect(await world.sluice(['replay', '--stream', id, '--yes'])).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/was deleted[\s\S]*--to with a port or URL/) as string,
  });
  const listed = ['deliveries', 'list', '--stream', id.toUpperCase(), '--json'];
  expect(JSON.parse((await world.sluice(listed)).stdout)).not.toHaveLength(0);
  const local = ['replay', '--stream', id, '--state', 'succeeded', '--to', app('/gone')];
  expect(await world.sluice(local)).toMatchObject({ code: 0 });
  expect(idsAt('/gone').length).toBeGreaterThan(before);
});
