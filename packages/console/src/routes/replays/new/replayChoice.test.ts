import { DELIVERY_STATES } from '@sluice/kit/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { listOf } from '../../../words/filterWords.ts';
import { isCount, withoutDelivered } from './replayChoice.ts';

test('succeeded deliveries are excluded, and no others are added', () => {
  fc.assert(
    fc.property(fc.subarray([...DELIVERY_STATES]), (state) => {
      const part = withoutDelivered({ streamId: 's', ...(state.length > 0 && { state }) });
      const states = listOf(part?.state);
      expect(states).not.toContain('succeeded');
      for (const each of ['failed', 'quarantined', 'pending', 'retrying'] as const) {
        expect(states.includes(each)).toBe(state.length === 0 || state.includes(each));
      }
      if (part !== null) expect(part).toEqual({ streamId: 's', state: states });
    }),
  );
});

test('a count may have separators', () => {
  for (const typed of ['29431', '29,431', ' 29 431 ', '29’431'])
    expect(isCount(typed, 29_431)).toBe(true);
  for (const typed of ['', '2943', '294310', 'all']) expect(isCount(typed, 29_431)).toBe(false);
  expect(isCount('', 0)).toBe(false);
});
