import type { DeliverySummary } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import { changesSince, recordChange } from './recentChanges.ts';

const delivery = (id: string) => ({ id }) as DeliverySummary;
const idsSince = (timeMs: number) => changesSince(timeMs).map(({ id }) => id);

test('only newer changes are returned, and old ones are deleted', () => {
  recordChange(delivery('a'), 1_000);
  recordChange(delivery('b'), 2_000);
  expect(idsSince(1_500)).toEqual(['b']);
  expect(idsSince(0)).toEqual(['a', 'b']);
  expect(idsSince(2_001)).toEqual([]);
  recordChange(delivery('c'), 200_000);
  expect(idsSince(0)).toEqual(['c']);
});
