/**
 * Tests the counts if there are more deliveries than a count examines, on each engine. Run by
 * `sqlite.test.ts` and `postgres.suite.ts`.
 */
import { describe, expect, test } from 'vitest';
import { firstIdAt } from '../../src/store/rows/ids.ts';
import { newMatch } from './newMatch.ts';
import type { Store } from '../../src/store/store.ts';
import { draft, useStore } from './storeTools.ts';

const HOUR_MS = 3_600_000;
const READ_LIMIT = 25_000;
const OLD_ROWS = 25_100;
/** Number of failed deliveries, which are the oldest ones. */
const FAILED_ROWS = 200;

/**
 * Statement that copies the stream's only delivery, with ids from two hours ago in ascending order.
 * The oldest copies have failed.
 */
const copyOldRows = (streamId: string): string => `
  with recursive n (i) as (select 1 union all select i + 1 from n where i < ${OLD_ROWS})
  insert into delivery (id, match_id, stream_id, phase, chain, block_number, block_day, tag, records, about,
    state, attempts, claims, lost, ordered, fast_retried, body_bytes, run_at, created_at, updated_at)
  select '${firstIdAt(Date.now() - 2 * HOUR_MS).slice(0, 24)}' || substr(cast(1000000000000 + i as text), 2),
    'match ' || i, stream_id, phase, chain, block_number, block_day, tag, records, about,
    case when i <= ${FAILED_ROWS} then 'failed' else 'succeeded' end, 1, 1, 0, 0, 0, body_bytes,
    run_at, created_at, updated_at
  from delivery cross join n where stream_id = '${streamId}'`;

export function testCounts(
  open: () => Promise<{ store: Store; execute(statement: string): Promise<void> }>,
): void {
  describe('counts of many deliveries', () => {
    let execute: (statement: string) => Promise<void>;
    const tools = useStore(async () => {
      const opened = await open();
      execute = opened.execute;
      return opened.store;
    });

    test('cover the newest deliveries of the selected streams and times, and report if there are more', async () => {
      const chain = await tools.startChain();
      const { id: busy } = await tools.store.createStream(draft([chain.chain]));
      const { id: quiet } = await tools.store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [newMatch(busy), newMatch(quiet)]);
      await execute(copyOldRows(busy));

      const ofBusy = await tools.store.countByField({ streamId: busy });
      const failed = FAILED_ROWS - (OLD_ROWS + 1 - READ_LIMIT);
      const states = [
        { value: 'succeeded', count: OLD_ROWS - FAILED_ROWS },
        { value: 'failed', count: failed },
        { value: 'pending', count: 1 },
      ];
      expect(ofBusy).toMatchObject({ total: READ_LIMIT, isCapped: true, state: states });
      // A filter by state selects from the examined deliveries. A filter by stream or time
      // determines which deliveries are examined.
      const ofFailed = await tools.store.countByField({ streamId: busy, state: 'failed' });
      expect(ofFailed).toMatchObject({ total: failed, isCapped: true, state: states });

      // A search checks a limited number of deliveries per page, until it has checked all of them.
      const search = { streamId: busy, find: 'ABOUT THIS', limit: 100 };
      await execute(
        `update delivery set about = 'about this' where stream_id = '${busy}' and state = 'failed'`,
      );
      const first = await tools.store.listDeliveries(search);
      expect(first).toMatchObject({ rows: [], searchedTo: first.next });
      const second = await tools.store.listDeliveries({ ...search, after: first.next });
      expect(second.rows).toHaveLength(100);
      const third = await tools.store.listDeliveries({ ...search, after: second.next });
      expect(third.rows).toHaveLength(FAILED_ROWS - 100);
      expect(third.next).toBeUndefined();
      const upward = await tools.store.listDeliveries({ ...search, order: 'oldest', limit: 300 });
      expect(upward.rows.map(({ id }) => id)).toEqual(
        [...second.rows, ...third.rows].map(({ id }) => id).toReversed(),
      );

      const ofQuiet = await tools.store.countByField({ streamId: quiet });
      expect(ofQuiet).toMatchObject({ total: 1, isCapped: false });
      expect(ofQuiet.streamId).toEqual([
        { value: busy, count: READ_LIMIT - 1 },
        { value: quiet, count: 1 },
      ]);
      const ofLastHour = await tools.store.countByField({ createdFrom: Date.now() - HOUR_MS });
      expect(ofLastHour).toMatchObject({ total: 2, isCapped: false });
      expect(ofLastHour.age).toEqual([
        { value: '24h', count: READ_LIMIT - 2 },
        { value: '15m', count: 2 },
      ]);
    });
  });
}
