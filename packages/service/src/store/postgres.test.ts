import { type Postgres, startPostgres } from '@sluice/testkit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testAccess } from './access.suite.ts';
import { testHistory } from './history.suite.ts';
import { testInvariants } from './invariants.suite.ts';
import { newMatch } from './newMatch.test-only.ts';
import { openPostgresStore } from './postgres.ts';
import { DEFAULT_DELIVERY, DEFAULT_OPTIONS } from './store.ts';
import { testStore } from './store.suite.ts';
import { takeChain } from './takeChain.test-only.ts';

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(statement);
  await client.end();
}

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

describe('PostgreSQL store', () => {
  testStore(() => openPostgresStore(postgres.url));
  testHistory(() => openPostgresStore(postgres.url));
  testAccess(() => openPostgresStore(postgres.url));

  describe('in a database of its own', () => {
    testInvariants(async () => {
      const url = new URL(postgres.url);
      url.pathname = '/invariants';
      await execute(postgres.url, 'create database invariants');
      return {
        store: await openPostgresStore(url.href),
        execute: (statement) => execute(url.href, statement),
      };
    });
  });

  test('survives the loss of its server: the next call after the restart works', async () => {
    const store = await openPostgresStore(postgres.url);
    await store.saveSetting('before', 'kept');
    await postgres.kill();
    await expect(store.readSetting('before')).rejects.toThrow(/connect|terminat|ECONN/i);
    await postgres.restart();
    expect(await store.readSetting('before')).toBe('kept');
    await store.close();
  });

  test('two claimers never take the same delivery', async () => {
    const one = await openPostgresStore(postgres.url);
    const two = await openPostgresStore(postgres.url);
    const chain = '0xabcdef';
    const stream = await one.createStream({
      tag: 't',
      description: '',
      webhookUrl: 'http://127.0.0.1:1/',
      chainIds: [chain],
      options: { ...DEFAULT_OPTIONS, includeNativeTxs: true },
      family: 'evm',
      ...DEFAULT_DELIVERY,
    });
    const header = (number: number) => ({
      number,
      hash: `h${number}`,
      parentHash: `h${number - 1}`,
      timestamp: number,
    });
    const epoch = await takeChain(one, chain);
    await one.startChain({ chain, epoch, block: header(0), genesisHash: 'genesis' });
    const { revision } = await one.readRules(Number.MAX_SAFE_INTEGER);
    for (let number = 1; number <= 100; number++) {
      await one.commitBlock({
        chain,
        epoch,
        block: header(number),
        ruleRevision: revision,
        confirmUpTo: 0,
        windowBlocks: 256,
        matches: [newMatch(stream.id)],
      });
    }
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? one : two).claimDeliveries({
          limit: 7,
          maxBytes: 1e9,
          perStream: 1000,
          taken: {},
          leaseMs: 40_000,
        }),
      ),
    );
    const ids = claims
      .flat()
      .filter((claimed) => claimed.streamId === stream.id)
      .map((claimed) => claimed.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(50);
    await one.close();
    await two.close();
  });
});
