import fc from 'fast-check';
import { type Hex, toRlp } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Anvil, startAnvil } from '../anvil/anvil.ts';
import { deployContracts } from '../anvil/deployContracts.ts';
import { type BloomInput, bloomMayHold, bloomOf } from './bloom.ts';
import { fromHex, toHex } from './keccak.ts';
import { encodeRlp, rlpNumber } from './rlp.ts';

let anvil: Anvil;
beforeAll(async () => {
  anvil = await startAnvil();
});
afterAll(() => anvil.stop());

test('a bloom equals that of a real node', async () => {
  await deployContracts(anvil);
  const blocks = [];
  for (let number = 1; number <= Number(await anvil.request('eth_blockNumber')); number += 1) {
    const params = [`0x${number.toString(16)}`, false];
    const block = await anvil.request<{ hash: Hex; logsBloom: Hex }>(
      'eth_getBlockByNumber',
      params,
    );
    const logs = await anvil.request<BloomInput[]>('eth_getLogs', [{ blockHash: block.hash }]);
    expect(toHex(bloomOf(logs))).toBe(block.logsBloom);
    blocks.push(...logs);
  }
  expect(blocks.length).toBeGreaterThan(3);
});

test('a bloom may contain its values, and never one with a missing bit', () => {
  const log: BloomInput = { address: `0x${'01'.repeat(20)}`, topics: [`0x${'02'.repeat(32)}`] };
  const bloom = bloomOf([log]);
  expect(bloomMayHold(bloom, log.address)).toBe(true);
  expect(bloomMayHold(bloom, log.topics[0] as Hex)).toBe(true);
  expect(bloomMayHold(bloom, `0x${'03'.repeat(20)}`)).toBe(false);
  expect(bloomMayHold(bloomOf([]), log.address)).toBe(false);
});

test('RLP equals the encoding of viem', () => {
  const { item } = fc.letrec<{ item: Nested }>((tie) => ({
    item: fc.oneof(
      { maxDepth: 3 },
      fc.uint8Array({ maxLength: 70 }),
      fc.array(tie('item'), { maxLength: 5 }),
    ),
  }));
  fc.assert(
    fc.property(item, (nested) => {
      expect(toHex(encodeRlp(nested))).toBe(toRlp(inHex(nested)));
    }),
  );
});

test('RLP numbers have no leading zeros', () => {
  expect(rlpNumber(0n)).toHaveLength(0);
  expect(rlpNumber(0x0fn)).toEqual(fromHex('0x0f'));
  expect(rlpNumber(0x0100n)).toEqual(fromHex('0x0100'));
});

type Nested = Uint8Array | Nested[];
type NestedHex = Hex | NestedHex[];

function inHex(item: Nested): NestedHex {
  return item instanceof Uint8Array ? toHex(item) : item.map(inHex);
}
