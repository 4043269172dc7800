import { expect, test } from 'vitest';
import { toReplayCall, toSelectionCommand } from './replayCommands.ts';

test('the command line says what its flags can say', () => {
  expect(
    toSelectionCommand({
      name: "maya's outage",
      filter: {
        state: ['failed', 'quarantined'],
        streamId: 's',
        status: '5xx',
        createdFrom: Date.UTC(2026, 10, 22, 10, 42),
        blockFrom: 1,
        blockTo: 9,
      },
      perSecond: 50,
    }),
  ).toBe(
    `sluice replay --state failed quarantined --stream s --status 5xx --since 2026-11-22T10:42:00.000Z --blocks 1..9 --name 'maya'\\''s outage' --rate 50/s`,
  );
});

test('what it has no flag for is not left out of it', () => {
  const name = 'n';
  expect(toSelectionCommand({ name, filter: { error: 'ECONN' } })).toBeNull();
  expect(toSelectionCommand({ name, filter: { streamId: ['a', 'b'] } })).toBeNull();
  expect(toSelectionCommand({ name, filter: { blockFrom: 1 } })).toBeNull();
  const call = toReplayCall({ name, filter: { error: "can't" } }, 'http://127.0.0.1:4400');
  expect(call).toContain('curl http://127.0.0.1:4400/sluice/replays');
  expect(call).toContain(`'{"name":"n","filter":{"error":"can'\\''t"}}'`);
});
