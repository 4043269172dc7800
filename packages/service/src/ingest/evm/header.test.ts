import { type RunningScriptedChain, startScriptedChain } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toHeader } from './header.ts';
import type { Json } from '../json.ts';

let chain: RunningScriptedChain;
let block: Json;
beforeAll(async () => {
  chain = await startScriptedChain({ chainId: 1 });
  chain.mine();
  const response = await fetch(chain.url, {
    method: 'POST',
    body: JSON.stringify({
      id: 1,
      method: 'eth_getBlockByHash',
      params: [chain.head.hash, false],
    }),
  });
  block = ((await response.json()) as { result: Json }).result;
});
afterAll(() => chain.stop());

describe('a block header', () => {
  test('is accepted if it matches its hash', () => {
    expect(toHeader(block, 'strict')).toEqual({
      number: 1,
      hash: chain.head.hash,
      parentHash: chain.head.parentHash,
      timestamp: Number(chain.head.timestamp),
    });
  });

  test.each([
    ['parentHash', `0x${'12'.repeat(32)}`],
    ['logsBloom', `0x${'12'.repeat(256)}`],
    ['timestamp', '0x1'],
    ['number', '0x2'],
    ['receiptsRoot', `0x${'12'.repeat(32)}`],
    ['hash', `0x${'12'.repeat(32)}`],
    ['withdrawalsRoot', undefined],
  ])('with a wrong %s is rejected', (name, value) => {
    expect(() => toHeader({ ...block, [name]: value }, 'strict')).toThrow(
      /does not match its hash/,
    );
  });

  test('without its transactions is rejected', () => {
    expect(() => toHeader({ ...block, transactions: ['0x12'] }, 'strict')).toThrow(
      /has transactions, but its header shows otherwise/,
    );
  });

  test('with a field of a later fork is rejected, and accepted unchecked with proof=off', () => {
    const later = { ...block, timestamp: '0x1', blockAccessListHash: `0x${'12'.repeat(32)}` };
    expect(() => toHeader(later, 'strict')).toThrow(
      /does not match its hash.*does not know blockAccessListHash.*proof=off/,
    );
    expect(toHeader(later, 'known').timestamp).toBe(1);
    expect(() => toHeader({ ...block, timestamp: '0x1' }, 'known')).toThrow(/match its hash/);
  });

  test('with a field of the node that is not part of the hash is proven', () => {
    expect(toHeader({ ...block, blockTimestamp: '0x1' }, 'strict').number).toBe(1);
  });

  test('of a chain that may hash differently is accepted unchecked', () => {
    expect(toHeader({ ...block, timestamp: '0x1' }, 'none').timestamp).toBe(1);
  });
});
