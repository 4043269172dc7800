import { expectTypeOf } from 'vitest';
import { type DecodedRead, decodeReads } from './decodeReads.ts';
import { createHandler } from './handler/handler.ts';
import { sampleWebhook } from './testing.ts';

const contract = '0x5fbdb2315678afecb367f032d93f642f64180aa3';
const reads = [
  { balance: 'native', of: [contract], when: { below: '1' } },
  { contract, function: 'totalSupply() returns (uint256 supply)', when: 'changes' },
  { contract, function: 'owner() returns (address)', when: 'changes' },
  { contract, function: 'isOpen(uint8) returns (bool)', arguments: ['1'], when: 'changes' },
  { contract, function: 'slot0() returns (uint160, int24)', when: 'changes' },
] as const;
const webhook = sampleWebhook('read');

for (const read of decodeReads(webhook, reads)) {
  if (read.name === 'balance') expectTypeOf(read.after.value).toEqualTypeOf<bigint>();
  else if (read.name === 'totalSupply') expectTypeOf(read.after.value).toEqualTypeOf<bigint>();
  else if (read.name === 'owner') expectTypeOf(read.after.value).toEqualTypeOf<string>();
  else if (read.name === 'isOpen') expectTypeOf(read.after.value).toEqualTypeOf<boolean>();
  else expectTypeOf(read.name).toEqualTypeOf<'slot0'>();
}
expectTypeOf(decodeReads(webhook)).toEqualTypeOf<DecodedRead[]>();

createHandler({ secret: 's' }).onRead('totalSupply', ({ after, chainId }) => {
  expectTypeOf(after.block).toEqualTypeOf<bigint>();
  expectTypeOf(chainId).toEqualTypeOf<string>();
});
