import { expect, test } from 'vitest';
import { toSelectionCommand } from './replayCommands.ts';

const at = (hour: number): number => Date.UTC(2026, 10, 22, hour);

test('every field of a filter has a flag, quoted if a shell would expand it', () => {
  expect(
    toSelectionCommand({
      name: "maya's outage",
      filter: {
        id: ['a', 'b'],
        state: ['failed', 'quarantined'],
        streamId: ['s', 't'],
        destination: 0,
        receiver: 'inbox demo',
        chainId: '0x1',
        phase: 'confirmed',
        status: ['5xx', 'none'],
        error: "can't $(connect)",
        attemptsFrom: 2,
        attemptsTo: 5,
        reorged: false,
        createdFrom: at(10),
        createdTo: at(11),
        blockFrom: 1,
        blockTo: 9,
        replayId: 'r',
      },
      perSecond: 50,
    }),
  ).toBe(
    [
      `sluice replay a b --state failed quarantined --stream s t --destination 0 --receiver 'inbox demo' --chain 0x1 --phase confirmed`,
      `--status 5xx none --error 'can'\\''t $(connect)' --attempts 2..5 --no-reorged`,
      '--since 2026-11-22T10:00:00.000Z --until 2026-11-22T11:00:00.000Z --blocks 1..9 --replay r',
      `--name 'maya'\\''s outage' --rate 50/s`,
    ].join(' '),
  );
});

test('a range has two ends, one end, or is a single number', () => {
  const commandOf = (filter: object) => toSelectionCommand({ name: 'n', filter });
  expect(commandOf({ blockFrom: 5 })).toBe('sluice replay --blocks 5.. --name n');
  expect(commandOf({ attemptsTo: 3 })).toBe('sluice replay --attempts ..3 --name n');
  expect(commandOf({ attemptsFrom: 1, attemptsTo: 1 })).toBe('sluice replay --attempts 1 --name n');
});

test('deliveries selected by id are sent directly, without a name or a rate', () => {
  expect(toSelectionCommand({ name: 'n', filter: { id: ['a', 'b'] }, perSecond: 50 })).toBe(
    'sluice replay a b',
  );
});
