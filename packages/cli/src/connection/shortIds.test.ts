import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type World, startWorld } from '../commands/world.test-only.ts';
import { chooseId } from './shortIds.ts';
import { cutText } from '../terminal/text.ts';

test('property: a shortened id is found, or all its matches are listed', () => {
  const ids = fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(ids, fc.nat(), fc.integer({ min: 9, max: 35 }), (all, at, width) => {
      const id = all[at % all.length]!;
      for (const short of [cutText(id, width, 'middle'), id.slice(-8), id.slice(0, 8), id]) {
        let found: string | undefined;
        try {
          found = chooseId(short.toUpperCase(), all, 'ids');
        } catch (error) {
          expect((error as { fix: string }).fix).toContain(id);
          continue;
        }
        expect(found).toBe(id);
      }
    }),
  );
  expect(chooseId('not-an-id', ['0a'], 'ids')).toBeUndefined();
  expect(() => chooseId('0199…', ['01990000-a', '01990000-b'], 'deliveries')).toThrow(
    '0199… matches 2 deliveries',
  );
});

describe('every command accepts the ids that others print', () => {
  let world: World;
  let ids: string[];
  let streamId: string;

  beforeAll(async () => {
    world = await startWorld();
    ({ id: streamId } = await world.api.streams.create({
      webhookUrl: world.sink.url,
      description: '',
      tag: 'pay',
      chainIds: ['0x7a69'],
      includeContractLogs: true,
      allAddresses: true,
      abi: [],
      topic0: ['Transfer(address,address,uint256)'],
    }));
    world.pay(1n);
    world.pay(2n);
    ids = await until('the webhooks are delivered', async () => {
      const { result } = await world.client.listDeliveries({ state: ['succeeded'] });
      return result.length >= 3 ? result.map(({ id }) => id) : undefined;
    });
  });
  afterAll(() => world.stop());

  test.each(['deliveries get', 'deliveries payload', 'explain', 'replay', 'fixture save'])(
    '%s',
    async (command) => {
      const [id = ''] = ids;
      for (const short of [cutText(id, 21, 'middle'), id.slice(-8), `…${id.slice(-8)}`]) {
        const whole = await world.sluice([...command.split(' '), id, '--json']);
        const run = await world.sluice([...command.split(' '), short, '--json']);
        expect([run.code, run.stderr], short).toEqual([0, whole.stderr]);
        if (/get|payload/.test(command)) expect(run.stdout).toBe(whole.stdout);
      }
      const unknown = await world.sluice([...command.split(' '), '…fffffff0']);
      expect(unknown.code).toBe(4);
      expect(unknown.stderr).toContain('matches the ID …fffffff0');
    },
  );

  test('explain accepts a short id of digits that is not the number of a block', async () => {
    const [id = ''] = ids;
    const digits = '11815357';
    const renamed = id.slice(0, -digits.length) + digits;
    await world.whileStopped(async () => {
      const ledger = new DatabaseSync(join(world.folder, 'data', 'sluice.db'));
      ledger.exec(`update delivery set id = '${renamed}' where id = '${id}';
        update attempt set delivery_id = '${renamed}' where delivery_id = '${id}'`);
      ledger.close();
    });
    ids[0] = renamed;
    const whole = await world.sluice(['explain', renamed, '--json']);
    expect(whole.code).toBe(0);
    expect(await world.sluice(['explain', digits, '--json'])).toEqual(whole);
    const unknown = await world.sluice(['explain', '11815358']);
    expect(unknown.stderr).toContain('has block 11815358');
  });

  test('accepts the id of a table row', async () => {
    const { stdout } = await world.sluice(['deliveries', 'list', '--limit', '1']);
    const shown = stdout.split('\n')[1]!.split(' ')[0]!;
    expect((await world.sluice(['deliveries', 'get', shown])).stdout).toMatch(/^id +\w{8}-/m);
  });

  test('lists the matches of an ambiguous id', async () => {
    const start = ids[0]!.slice(0, 6);
    const { code, stderr } = await world.sluice(['deliveries', 'get', `${start}…`]);
    expect(code).toBe(2);
    for (const id of ids) expect(stderr).toContain(id);
  });

  test('accepts short ids of streams and replays', async () => {
    const short = `${streamId.slice(0, 5)}…${streamId.slice(-4)}`;
    for (const each of [short, streamId.slice(0, 8), streamId.slice(-8)]) {
      expect(await world.sluice(['streams', 'pause', each])).toMatchObject({ code: 0 });
      expect(await world.sluice(['tail', '--stream', `${each}0`])).toMatchObject({ code: 4 });
    }
    await world.sluice(['streams', 'resume', streamId]);
    const made = await world.client.createReplay({
      name: 'a',
      filter: { id: ids },
      perSecond: 100,
    });
    for (const each of [cutText(made.id, 14, 'middle'), made.id.slice(-8)]) {
      const run = await world.sluice(['replays', 'get', each, '--json']);
      expect(JSON.parse(run.stdout)).toMatchObject({ id: made.id });
    }
  });
});
