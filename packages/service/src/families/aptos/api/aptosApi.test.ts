import { expect, test } from 'vitest';
import { joinBody, splitFinalBody } from '../../../store/blocks/body.ts';
import { APTOS_API } from './aptosApi.ts';

test('the time of a block is read from its body in full milliseconds', () => {
  const decoy = { number: '1', timestamp: '1' };
  const stored = splitFinalBody(
    {
      tag: `"block":${JSON.stringify(decoy)}`,
      network: 'mainnet',
      block: { number: '7', timestamp: '1700000000123456', hash: '0x07' },
    },
    { transactions: [], payloads: [{ block: decoy }] },
  );
  const body = joinBody({ ...stored, phase: 'confirmed', retries: 0 });
  expect(APTOS_API.readBlockTime(body)).toBe(1_700_000_000_123);
});
