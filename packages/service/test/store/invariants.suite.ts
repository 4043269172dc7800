/**
 * Tests on each engine that the integrity check finds violations, which are created directly in
 * SQL.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInvariantCheck } from '../../src/operate/invariants.ts';
import { newMatch } from './newMatch.ts';
import { takeChain } from './takeChain.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type StreamRecord,
} from '../../src/store/streams/contract.ts';
import { VIOLATIONS, type ViolationKind } from '../../src/store/integrity/contract.ts';
import type { BlockHeader } from '../../src/store/blocks/contract.ts';
import type { Store } from '../../src/store/store.ts';
import { plain } from './plain.ts';

const DAY_MS = 24 * 3_600_000;
const CHAIN = '0xabcd';

export function testInvariants(
  open: () => Promise<{ store: Store; execute(statement: string): Promise<void> }>,
): void {
  describe('the integrity check', () => {
    let store: Store;
    let execute: (statement: string) => Promise<void>;
    let stream: StreamRecord;
    let held: { chain: string; epoch: number };
    let tip: BlockHeader = {
      number: 10,
      hash: '0xh10',
      parentHash: '0xh9',
      timestamp: 1_700_000_000,
    };
    const logged: string[] = [];

    beforeAll(async () => {
      ({ store, execute } = await open());
      const epoch = await takeChain(store, CHAIN);
      held = { chain: CHAIN, epoch };
      await store.startChain({ ...held, block: tip, genesisHash: '0xgenesis' });
      stream = await store.createStream(
        plain({
          tag: 'tag',
          description: '',
          webhookUrl: 'http://127.0.0.1:1/hook',
          chainIds: [CHAIN],
          options: { ...DEFAULT_OPTIONS, includeNativeTxs: true },
          family: 'evm',
          ...DEFAULT_DELIVERY,
        }),
      );
    });
    afterAll(() => store.close());

    const log = {
      info: () => {},
      warn: () => {},
      error: (event: string, fields: object = {}) =>
        void logged.push(`${event} ${JSON.stringify(fields)}`),
    };
    const newCheck = (keptMs = 7 * DAY_MS) => createInvariantCheck({ store, log, keptMs });
    const NOTHING = Object.fromEntries(VIOLATIONS.map((kind) => [kind, 0]));
    const found = async (keptMs?: number): Promise<object> => {
      const check = newCheck(keptMs);
      await check.look();
      return check.counts();
    };

    /**
     * Commits blocks with one match each, and completes all due deliveries. Every tenth delivery
     * fails.
     */
    const advance = async (blocks: number): Promise<void> => {
      for (let n = 0; n < blocks; n++) {
        const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
        const number = tip.number + 1;
        const block = {
          number,
          hash: `0xh${number}`,
          parentHash: tip.hash,
          timestamp: tip.timestamp + 12,
        };
        const { outcome } = await store.commitBlock({
          ...held,
          block,
          ruleRevision: revision,
          confirmUpTo: number - 3,
          windowBlocks: 20,
          matches: [newMatch(stream.id)],
        });
        expect(outcome).toBe('committed');
        tip = block;
      }
      const claimed = await store.claimDeliveries({
        limit: 1000,
        maxBytes: 1e9,
        perStream: 1000,
        taken: {},
        leaseMs: 40_000,
      });
      await store.completeDeliveries(
        claimed.map(({ id, leaseToken }, n) => ({
          id,
          leaseToken,
          webhookUrl: 'http://127.0.0.1:1/hook',
          startedAt: Date.now(),
          durationMs: 1,
          status: n % 10 === 9 ? 500 : 200,
          error: n % 10 === 9 ? 'HTTP 500' : null,
          responseBody: '',
          transport: null,
          result: n % 10 === 9 ? 'failed' : 'succeeded',
          retryInMs: 0,
          isFastRetry: false,
        })),
      );
    };

    test('finds nothing after a reorg, a pause, a replay, a deletion and retention', async () => {
      await advance(30);
      expect(await found()).toEqual(NOTHING);

      const ancestor = { number: tip.number - 2, hash: `0xh${tip.number - 2}` };
      const before = tip;
      await store.rewindChain({ ...held, ancestor });
      tip = { ...before, ...ancestor, parentHash: '' };
      expect(await found()).toEqual(NOTHING);
      await advance(5);
      const [delivered] = (await store.listDeliveries({ limit: 1, streamId: stream.id })).rows;
      await store.replayDelivery(stream.id, delivered!.id);
      await store.setStreamStatus(stream.id, 'paused', '');
      expect(await found()).toEqual(NOTHING);
      await store.setStreamStatus(stream.id, 'active', '');
      await advance(1);
      await store.rollUpStats();
      expect(await found()).toEqual(NOTHING);

      const other = await store.createStream(plain({ ...withoutLife(stream), tag: 'deleted' }));
      const kept = stream;
      stream = other as StreamRecord;
      await advance(4);
      await store.deleteStream(stream.id);
      stream = kept;
      expect(await found()).toEqual(NOTHING);

      const { rows: listed } = await store.listDeliveries({ limit: 200, streamId: stream.id });
      const ageMs = (await store.readLedgerTime()) - listed.at(-20)!.createdAt;
      await store.deleteExpired({ deliveredMs: ageMs, undeliveredMs: ageMs, forMs: 0, after: '' });
      expect(await store.readDelivery(listed.at(-1)!.id)).toBeUndefined();
      // With a negative retention period, all rows count as old enough to be deleted, so missing
      // rows are not reported.
      expect(await found(-1000)).toEqual(NOTHING);
    });

    /**
     * Breaks the ledger, expects this violation, and repairs the ledger. Expects no other
     * violation, except for `match_without_delivery`.
     */
    const broken = async (
      kind: ViolationKind,
      { breaking, mending }: { breaking: string[]; mending: string[] },
    ): Promise<void> => {
      await advance(3);
      const check = newCheck(-1000);
      const whole = newCheck();
      for (const statement of breaking) await execute(statement);
      logged.length = 0;
      const used = kind === 'match_without_delivery' ? whole : check;
      await used.look();
      expect(used.counts()[kind], kind).toBeGreaterThan(0);
      const others = Object.entries(used.counts()).filter(([name]) => name !== kind);
      if (used === check) {
        expect(others.filter(([, count]) => count > 0)).toEqual([]);
      }
      expect(logged.join('\n')).toContain(kind);
      const lines = logged.length;
      await used.look();
      expect(logged.length, 'a known violation is logged once').toBe(lines);
      for (const statement of mending) await execute(statement);
      await used.look();
      expect(used.counts()[kind], `${kind} after the repair`).toBe(0);
    };

    const someDelivery = async (state: string): Promise<string> =>
      (await store.listDeliveries({ limit: 100, streamId: stream.id })).rows.find(
        (row) => row.state === state,
      )!.id;

    test('finds a checkpoint that is not the newest block of its window', async () => {
      await advance(1);
      await broken('checkpoint_off_window', {
        breaking: [`update checkpoint set number = number + 1 where chain = '${CHAIN}'`],
        mending: [`update checkpoint set number = number - 1 where chain = '${CHAIN}'`],
      });
      const torn = tip.number;
      await broken('checkpoint_off_window', {
        breaking: [`update block set parent_hash = 'other' where number = ${torn}`],
        mending: [`update block set parent_hash = '0xh${torn - 1}' where number = ${torn}`],
      });
    });

    test('finds a block whose matches are missing', async () => {
      await advance(1);
      const at = tip.number;
      await broken('block_without_matches', {
        breaking: [`update block set matches = 3 where number = ${at}`],
        mending: [`update block set matches = 1 where number = ${at}`],
      });
    });

    test('finds a match whose delivery is missing', async () => {
      await advance(1);
      const id = await someDelivery('succeeded');
      const hidden = randomUUID();
      await broken('match_without_delivery', {
        breaking: [`update delivery set match_id = match_id || '${hidden}' where id = '${id}'`],
        mending: [
          `update delivery set match_id = replace(match_id, '${hidden}', '') where id = '${id}'`,
        ],
      });
    });

    /** Changes the total of delivered webhooks, so that it fits a changed delivery. */
    const total = (n: number) =>
      `insert into stat_delta values ('${stream.id}', 0, '0x1', 'webhooks_delivered', ${n})`;

    test.each([
      ['in an unknown state', "state = 'lost'"],
      ['leased without a token', "state = 'leased', lease_until = <soon>"],
      ['leased without an end', "state = 'leased', lease_token = 'kept'"],
      ['without a match', "state = 'pending', match_id = 'none'"],
      ['enriching with a complete body', "state = 'enriching'"],
      ['pending with an incomplete body', "state = 'pending'", "enrichment = '{}'"],
      ['held with an incomplete body', "state = 'held'", "held = 1, enrichment = '{}'"],
      ['held although its match is released', "state = 'held'"],
      ['pending although its match is held', "state = 'pending'", 'held = 1'],
    ])('finds a delivery that is %s', async (_, breaking, ofMatch?: string) => {
      const id = await someDelivery('succeeded');
      const { matchId } = (await store.readDelivery(id))!;
      const match = (values: string) => `update match set ${values} where id = '${matchId}'`;
      const broke = breaking.replace('<soon>', String(Date.now() + 60_000));
      await broken('illegal_delivery', {
        breaking: [
          `update delivery set ${broke} where id = '${id}'`,
          total(-1),
          ...(ofMatch === undefined ? [] : [match(ofMatch)]),
        ],
        mending: [
          `update delivery set state = 'succeeded', lease_token = null, lease_until = null,
            match_id = '${matchId}' where id = '${id}'`,
          total(1),
          match('held = 0, enrichment = null'),
        ],
      });
    });

    test.each([
      ['succeeded', 'has no 2xx', 'last_status = 500', 'last_status = 200'],
      ['succeeded', 'has an error', "last_error = 'late'", 'last_error = null'],
      ['succeeded', 'has a lease', "lease_token = 'kept'", 'lease_token = null'],
      ['failed', 'has no reason', 'last_error = null', "last_error = 'HTTP 500'"],
    ])('finds a %s delivery that %s', async (state, _, breaking, mending) => {
      await advance(10);
      const id = await someDelivery(state);
      const update = (values: string) => `update delivery set ${values} where id = '${id}'`;
      await broken('illegal_delivery', {
        breaking: [update(breaking)],
        mending: [update(mending)],
      });
    });

    test('finds a delivery with a position after the newest of its feed, but none without a 2xx', async () => {
      const id = await someDelivery('succeeded');
      await execute(`insert into feed (stream_id, head) values ('${stream.id}', 1)`);
      const update = (position: number | null, status: number | null) =>
        `update delivery set feed_position = ${position}, last_status = ${status} where id = '${id}'`;
      await broken('illegal_delivery', { breaking: [update(2, null)], mending: [update(1, null)] });
      await execute(update(null, 200));
      await execute(`delete from feed where stream_id = '${stream.id}'`);
    });

    test('finds a delivery with a wrong number of attempts', async () => {
      const id = await someDelivery('succeeded');
      await broken('attempts_miscounted', {
        breaking: [`update attempt set delivery_id = 'gone' where delivery_id = '${id}'`],
        mending: [`update attempt set delivery_id = '${id}' where delivery_id = 'gone'`],
      });
    });

    test('finds totals that do not equal the number of rows', async () => {
      await advance(1);
      await store.rollUpStats();
      await broken('totals_miscounted', {
        breaking: [total(-1000)],
        mending: [`delete from stat_delta where n = -1000`],
      });
    });

    test('finds a lease that ends too late or expired long ago', async () => {
      const id = await someDelivery('succeeded');
      const leased = (until: number) =>
        `update delivery set state = 'leased', lease_token = 'kept', lease_until = ${until} where id = '${id}'`;
      const mending = [
        `update delivery set state = 'succeeded', lease_token = null, lease_until = null where id = '${id}'`,
      ];
      for (const until of [Date.now() + 3_600_000, Date.now() - 3_600_000]) {
        await broken('lease_out_of_bounds', {
          breaking: [leased(until), total(-1)],
          mending: [...mending, total(1)],
        });
      }
    });
  });
}

function withoutLife(record: StreamRecord) {
  if (record.family !== 'evm') throw new Error('expected an EVM stream');
  const {
    tag,
    description,
    webhookUrl,
    chainIds,
    options,
    family,
    deliver,
    confirmations,
    notifyRemoved,
    unverified,
    headers,
    oauth2,
    limits,
  } = record;
  return {
    tag,
    description,
    webhookUrl,
    chainIds,
    options,
    family,
    deliver,
    confirmations,
    notifyRemoved,
    unverified,
    headers,
    oauth2,
    limits,
  };
}
