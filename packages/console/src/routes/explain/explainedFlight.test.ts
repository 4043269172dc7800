import type { ExplainReason } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import { explainedFlight } from './explainedFlight.ts';

const passed = (stage: ExplainReason['stage']): ExplainReason => ({
  stage,
  outcome: 'passed',
  message: `${stage} is fine`,
});
const filter = {
  stage: 'filter',
  outcome: 'stopped',
  message: 'value 10000 on 0x1 is too small',
} as const;
const BLOCK_STAGES = [passed('seen'), passed('fetched'), passed('committed')];

test('a block without a match goes to its commit, and to the check that stopped it', () => {
  const flight = explainedFlight(
    { timestamp: 100, committedAt: 101_400 },
    BLOCK_STAGES,
    {
      stages: [passed('chain'), passed('address'), filter, passed('enrichment')],
      reason: filter,
    },
    [{ id: '0x1', name: 'Ethereum' }],
  );
  expect(flight.legs.map(({ label }) => label)).toEqual(['commit', 'chain', 'address', 'filter']);
  expect(flight.legs.at(-1)!.parts).toMatchObject([
    { look: 'check', note: 'stopped here: value 10,000 on Ethereum is too small', isLast: true },
  ]);
  expect(flight).toMatchObject({
    end: { word: 'stopped here' },
    summary: 'filter: value 10,000 on Ethereum is too small',
  });
});

test('without a time of the commit, the checks of the block come first', () => {
  const labelsOf = (timestamp: number | null, committedAt: number | null) =>
    explainedFlight(
      { timestamp, committedAt },
      BLOCK_STAGES,
      {
        stages: [passed('chain'), filter],
        reason: filter,
      },
      [],
    ).legs.map(({ label }) => label);
  expect(labelsOf(100, null)).toEqual(['seen', 'fetched', 'committed', 'chain', 'filter']);
  expect(labelsOf(null, 101_400)).toEqual(['chain', 'filter']);
  // The block's own time is ahead of the service's clock.
  expect(labelsOf(100, 99_000)).toEqual(['chain', 'filter']);
});
