import { erc20Abi } from 'viem';
import { expectTypeOf } from 'vitest';
import { type DecodedCall, decodeCalls } from './decodeCalls.ts';
import { createHandler } from './handler/handler.ts';
import { sampleWebhook } from './testing.ts';

type Hex = `0x${string}`;
const webhook = sampleWebhook('call');

for (const call of decodeCalls(webhook, erc20Abi).decoded) {
  if (call.name === 'transfer') {
    expectTypeOf(call.args).toEqualTypeOf<{ readonly recipient: Hex; readonly amount: bigint }>();
  }
}
expectTypeOf(decodeCalls(webhook).decoded).toEqualTypeOf<DecodedCall[]>();

createHandler({ secret: 's', abi: erc20Abi }).onCall('approve', ({ args, status }) => {
  expectTypeOf(args).toEqualTypeOf<{ readonly spender: Hex; readonly amount: bigint }>();
  expectTypeOf(status).toEqualTypeOf<'success' | 'failed' | null>();
});
