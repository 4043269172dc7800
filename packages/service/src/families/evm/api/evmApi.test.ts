import { expect, test } from 'vitest';
import { joinBody, splitBody } from '../../../store/blocks/body.ts';
import { EVM_API } from './evmApi.ts';

test('the time of a block is read from its body, whatever the ABI and the tag contain', () => {
  const decoy = { number: '1', timestamp: '1' };
  const stored = splitBody(
    {
      chainId: '0x1',
      abi: [{ block: decoy }],
      tag: `,"retries":0,"block":${JSON.stringify(decoy)}`,
    },
    { block: { number: '7', hash: '0x07', timestamp: '1700000000' }, logs: [{ block: decoy }] },
  );
  for (const phase of ['unconfirmed', 'confirmed', 'removed'] as const) {
    const body = joinBody({ ...stored, phase, retries: 2 });
    expect(EVM_API.readBlockTime(body)).toBe(1_700_000_000_000);
  }
  expect(() => EVM_API.readBlockTime('{"confirmed":true,"retries":0}')).toThrow('no block');
});
