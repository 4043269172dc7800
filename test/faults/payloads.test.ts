/**
 * Tests a block of many logs, invalid input, and a body that kills its sender.
 * `test/conformance/hardBlocks.test.ts` tests other large blocks.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeLogs } from '@sluice/kit';
import { type EvmWebhook, eventTopic } from '@sluice/kit/contract';
import { scripted, until } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY } from '../serve.ts';
import { sendRaw } from '../story/sendRaw.ts';
import { CHAIN, type FaultWorld, STORES, startWorld } from './world.ts';

const LOGS = 50_000;
const MAX_WEBHOOK_BYTES = 2 * 1024 * 1024;
const POISON = 666_000_666n;

describe.each(STORES)('on %s', (store) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-payloads-'));
  let world: FaultWorld;

  beforeAll(async () => {
    // Kills the process that sends the poison. Storing it is harmless, because messages to
    // PostgreSQL do not start with `{`.
    const preload = join(folder, 'poison.mjs');
    writeFileSync(
      preload,
      `import { Socket } from 'node:net';
       const write = Socket.prototype.write;
       Socket.prototype.write = function (chunk, ...rest) {
         const text = Buffer.from(chunk).toString();
         if (text.startsWith('{') && text.includes('"value":"${POISON}"')) process.kill(process.pid, 'SIGKILL');
         return write.call(this, chunk, ...rest);
       };`,
    );
    world = await startWorld(store, {
      args: ['--max-webhook-bytes', String(MAX_WEBHOOK_BYTES)],
      serve: { env: { NODE_OPTIONS: `--import=${preload}` } },
    });
  });
  afterAll(async () => {
    await world?.stop();
    rmSync(folder, { recursive: true });
  });

  test('fault 23: a block of 50,000 logs and a stream that takes them all', async () => {
    const all = await world.watch('huge');
    const other = await world.watch('other');
    const [log] = world.transactionsOf([all]);
    const transactions = Array.from({ length: LOGS / 10 }, () => ({
      ...log!,
      logs: Array.from({ length: 10 }, () => log!.logs![0]!),
    }));
    const { hash } = world.chain.mine({ transactions });
    world.mine([other], 3);
    await world.holds([all, other]);
    const parts = world.receiver.requestsOf(all);
    for (const { body, headers } of parts) {
      expect(body.length).toBeLessThanOrEqual(MAX_WEBHOOK_BYTES);
      expect(headers['x-sluice-part']).toMatch(/^\d+\/\d+$/);
    }
    const unconfirmed = parts
      .map(
        ({ body }) => JSON.parse(body) as { confirmed: boolean; logs: []; block: { hash: string } },
      )
      .filter(({ confirmed, block }) => !confirmed && block.hash === hash);
    expect(unconfirmed.length).toBeGreaterThan(1);
    expect(unconfirmed.reduce((n, { logs }) => n + logs.length, 0)).toBe(LOGS);
    // Peak memory stays bounded, although the webhooks of both phases amount to about 30 MB.
    const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${world.service.pid}/status`, 'utf8'));
    expect(Number(peak![1]) / 1024).toBeLessThan(1_536);
  });

  test('fault 24: invalid input is refused on save, and an undecodable log is sent undecoded', async () => {
    const create = (stream: object): Promise<Response> =>
      fetch(`${world.service.url}/streams/evm`, {
        method: 'PUT',
        headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
        body: JSON.stringify({
          webhookUrl: world.receiver.url,
          description: 'odd',
          tag: 'odd',
          chainIds: [CHAIN],
          ...stream,
        }),
      });
    const refused = [
      {
        topic0: ['Broken(uint256)'],
        abi: [{ type: 'event', name: 'Broken', inputs: [{ name: 'x', type: 'uint257' }] }],
      },
      { abi: 'none' },
      { topic0: ['Broken(uint256'] },
      {
        abi: [{ type: 'event', name: 'Odd', inputs: [{ name: 'x', type: 'uint256' }] }],
        advancedOptions: [{ topic0: 'Odd(uint256)', filter: { gt: ['x'] } }],
      },
      { headers: { 'x-injected': 'a\r\nx-evil: b' } },
    ];
    for (const stream of refused) {
      const response = await create(stream);
      expect([400, 422], JSON.stringify(stream)).toContain(response.status);
      expect(((await response.json()) as { message: string }).message).not.toBe('');
    }
    const tooLarge = await sendRaw(world.service.url, 'PUT', '/streams/evm', {
      headers: { 'x-api-key': API_KEY },
      body: { description: 'x'.repeat(2 ** 21) },
    });
    expect(tooLarge.status).toBe(413);

    // A log with the topics of the event but malformed data for its string parameter is sent
    // undecoded.
    const event = {
      type: 'event',
      name: 'Said',
      inputs: [
        { name: 'who', type: 'address', indexed: true },
        { name: 'what', type: 'string', indexed: false },
      ],
    };
    const said = eventTopic(event) as `0x${string}`;
    const watch = await world.watch('odd', {
      abi: [event] as never,
      topic0: ['Said(address,string)'],
    });
    const who = `0x${'0'.repeat(24)}${'b'.repeat(40)}` as const;
    const odd = { address: watch.address, topics: [said, who], data: '0x01' } as const;
    // This log has the same `topic0`, but no indexed input, so the stream does not match it.
    const other = { ...odd, topics: [said] };
    world.chain.mine({ transactions: [scripted.log(odd), scripted.log(other)] });
    world.mine([], 2);
    await world.holds([watch]);
    const webhooks = world.receiver
      .requestsOf(watch)
      .map(({ body }) => JSON.parse(body) as EvmWebhook);
    expect(new Set(webhooks.map(({ confirmed }) => confirmed))).toEqual(new Set([false, true]));
    expect(webhooks).toHaveLength(2);
    for (const webhook of webhooks) {
      expect(webhook.logs).toMatchObject([
        { address: watch.address, topic0: said, topic1: who, data: '0x01' },
      ]);
      const { decoded, undecoded } = decodeLogs(webhook);
      expect(decoded).toEqual([]);
      expect(undecoded.map(({ reason }) => reason)).toEqual(['malformed']);
    }
  });

  test('fault 25: a payload that kills its sender', async () => {
    const watches = [
      await world.watch('poisoned', { deliver: 'confirmed' }),
      await world.watch('sibling'),
    ];
    const [poisoned, sibling] = world.transactionsOf(watches);
    world.mine(watches, 2);
    const { hash } = world.chain.mine({
      transactions: [{ ...poisoned!, value: POISON }, sibling!],
    });
    world.mine(watches, 2);
    const ended = (): Promise<number> =>
      world.ledger.value(`
        select count(*) as n from delivery join match on match.id = delivery.match_id
        where block_hash = '${hash}' and delivery.state = 'quarantined'`);
    let deaths = 0;
    await until(
      'the delivery is quarantined',
      async () => {
        if (!world.service.isRunning()) {
          deaths++;
          await world.lostLeases.note();
          await world.start();
        }
        return (await ended()) === 1;
      },
      240_000,
      200,
    );
    // Sending the delivery killed the service until the delivery was treated as a suspect. After
    // that, it killed only an isolated process.
    expect(deaths).toBeGreaterThanOrEqual(2);
    const errors = await world.ledger.rows<{ last_error: string }>(
      "select last_error from delivery where state = 'quarantined'",
    );
    for (const { last_error } of errors) expect(last_error).toContain('SIGKILL');
    await world.holds(watches);
    expect(world.receiver.requests.some(({ body }) => body.includes(String(POISON)))).toBe(false);
  });
});
