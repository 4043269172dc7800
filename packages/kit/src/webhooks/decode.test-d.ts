import { erc20Abi, parseAbi } from 'viem';
import { expectTypeOf } from 'vitest';
import type { AbiItem, EvmWebhook } from '../contract/shapes.generated.ts';
import { decodeLogs } from './decode.ts';
import type { DecodedLog, DecodedLogs } from './decode.ts';

type Hex = `0x${string}`;
declare const webhook: EvmWebhook;

// The ABI in a webhook is not known at compile time, so its logs have general types.
expectTypeOf(decodeLogs(webhook)).toEqualTypeOf<DecodedLogs>();
expectTypeOf(decodeLogs(webhook, [] as AbiItem[])).toEqualTypeOf<DecodedLogs>();
expectTypeOf(decodeLogs(webhook, [{} as AbiItem])).toEqualTypeOf<DecodedLogs>();

// The name of the event determines the types of its arguments.
for (const log of decodeLogs(webhook, erc20Abi).decoded) {
  expectTypeOf(log.name).toEqualTypeOf<'Transfer' | 'Approval'>();
  expectTypeOf(log.logIndex).toEqualTypeOf<number>();
  expectTypeOf(log.transactionHash).toEqualTypeOf<string>();
  expectTypeOf(log.address).toEqualTypeOf<string>();
  if (log.name === 'Transfer') {
    expectTypeOf(log.args).toEqualTypeOf<{
      readonly from: Hex;
      readonly to: Hex;
      readonly value: bigint;
    }>();
  } else {
    expectTypeOf(log.args).toEqualTypeOf<{
      readonly owner: Hex;
      readonly spender: Hex;
      readonly value: bigint;
    }>();
  }
  // @ts-expect-error an event that is not in the ABI
  expectTypeOf(log.name === 'Deposit');
}

// An inline ABI does not need `as const`.
const [order] = decodeLogs(webhook, [
  {
    type: 'event',
    name: 'Filled',
    inputs: [
      { name: 'id', type: 'uint8' },
      { name: '', type: 'bool' },
      { name: 'label', type: 'string', indexed: true },
      { name: 'note', type: 'string' },
      { name: 'ids', type: 'int256[2][]' },
      { name: 'topicIds', type: 'uint256[]', indexed: true },
      { name: 'hash', type: 'bytes32', indexed: true },
      { name: 'callback', type: 'function' },
      {
        name: 'orders',
        type: 'tuple[]',
        components: [
          { name: 'maker', type: 'address' },
          { name: '', type: 'tuple', components: [{ name: 'amount', type: 'uint64' }] },
        ],
      },
    ],
  },
  { type: 'event', name: 'Paused', inputs: [] },
  { type: 'function', name: 'pause', inputs: [], outputs: [], stateMutability: 'view' },
]).decoded;
if (order?.name === 'Filled') {
  expectTypeOf(order.args).toEqualTypeOf<{
    readonly id: bigint;
    readonly arg1: boolean;
    readonly label: Hex;
    readonly note: string;
    readonly ids: readonly (readonly bigint[])[];
    readonly topicIds: Hex;
    readonly hash: Hex;
    readonly callback: Hex;
    readonly orders: readonly {
      readonly maker: Hex;
      readonly arg1: { readonly amount: bigint };
    }[];
  }>();
} else if (order) {
  expectTypeOf(order.name).toEqualTypeOf<'Paused'>();
  expectTypeOf(order.args).toEqualTypeOf<{}>();
}

// Overloaded events share a name, so the type of their arguments is a union.
const overloaded = parseAbi(['event Set(uint256 value)', 'event Set(string)']);
const [set] = decodeLogs(webhook, overloaded).decoded;
if (set) {
  expectTypeOf(set.name).toEqualTypeOf<'Set'>();
  expectTypeOf(set.args).toEqualTypeOf<{ readonly value: bigint } | { readonly arg0: string }>();
}

// Without a static ABI, the names of events are known only at run time.
expectTypeOf<DecodedLog['name']>().toEqualTypeOf<string>();
