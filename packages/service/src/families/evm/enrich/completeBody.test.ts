import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AbiItem, WebhookLog } from '@sluice/kit/contract';
import { afterEach, expect, test, vi } from 'vitest';
import { completeBody } from './completeBody.ts';
import type { BodyTail } from './records.ts';
import type { StateReader } from './state.ts';
import { type CompiledTrigger, type DecodeRecord, createDecoder } from './triggers.ts';

afterEach(() => void vi.useRealTimers());

const block = { number: 7, hash: '0xb7' };
const log = (n: number): WebhookLog => ({
  logIndex: String(n),
  transactionHash: '0xabc',
  address: '0xc0',
  data: '0x',
  topic0: '0x70',
  topic1: null,
  topic2: null,
  topic3: null,
});

const tailOf = (logs: WebhookLog[]): BodyTail => ({
  block: { number: '7', hash: '0xb7', timestamp: '1' },
  logs,
  txs: [],
  txsInternal: [],
  erc20Transfers: [],
  erc20Approvals: [],
  nftTransfers: [],
  nftTokenApprovals: [],
  nftApprovals: { ERC721: [], ERC1155: [] },
  nativeBalances: [],
});

const complete = (tail: BodyTail, triggers: CompiledTrigger[], state?: Pick<StateReader, 'call'>) =>
  completeBody(tail, {
    plan: { triggers, balances: [], errors: new Map(), maxWebhookBytes: Number.POSITIVE_INFINITY },
    block,
    tokens: { find: () => undefined, read: async () => new Map(), giveUp: () => {} },
    state: {
      call: async (_, calls) => calls.map(({ data }) => ({ outcome: 'read', value: data })),
      balances: async () => [],
      failures: async () => [],
      ...state,
    },
    addLabels: async () => {},
    maxBytes: 1e6,
    isLastTry: true,
    onOmitted: () => {},
  });

test('a response that many records share is read once for each trigger', async () => {
  const reads: string[] = [];
  const triggerOf = (name: string): CompiledTrigger => ({
    kind: 'log',
    prepare: () => ({ to: '0xc0', data: '0x01' }),
    read({ outcome }) {
      reads.push(name);
      return [{ name, value: outcome }];
    },
  });
  const tail = tailOf(Array.from({ length: 50 }, (_, n) => log(n)));
  await complete(tail, [triggerOf('one'), triggerOf('two')]);
  expect(reads.toSorted()).toEqual(['one', 'two']);
  for (const { triggers } of tail.logs) {
    expect(triggers).toEqual([
      { name: 'one', value: 'read' },
      { name: 'two', value: 'read' },
    ]);
  }
});

test('responses in memory take at most 2 MiB in total', async () => {
  const batches: number[] = [];
  const triggerOf = (maxBytes: number): CompiledTrigger => ({
    kind: 'log',
    prepare: ({ logIndex }) => ({ to: '0xc0', data: `0x${String(logIndex)}`, maxBytes }),
    read: () => [],
  });
  const completeWith = async (maxBytes: number) => {
    batches.length = 0;
    await complete(tailOf(Array.from({ length: 600 }, (_, n) => log(n))), [triggerOf(maxBytes)], {
      async call(_, calls) {
        batches.push(calls.length);
        return calls.map(() => ({ outcome: 'read', value: '0x' }));
      },
    });
    return [...batches];
  };
  expect(await completeWith(4096)).toEqual([512, 88]);
  expect((await completeWith(65_536)).slice(0, 2)).toEqual([32, 32]);
});

test('the triggers of a record share its decoded parameters', async () => {
  const given: DecodeRecord[] = [];
  const watcher: CompiledTrigger = {
    kind: 'log',
    prepare(_, decode) {
      given.push(decode!);
      return undefined;
    },
    read: () => [],
  };
  await complete(tailOf([log(0), log(1)]), [watcher, watcher]);
  expect(given).toHaveLength(4);
  expect(given[1]).toBe(given[0]);
  expect(given[2]).not.toBe(given[1]);

  const events: AbiItem[] = [{ type: 'event', name: 'Said', inputs: [] }];
  const decode = createDecoder({ ...log(0) });
  expect(decode(events)).toBe(decode(events));
});

test.each([
  ['prepare', 3, 1],
  ['prepare', 1, 3],
  ['read', 3, 1],
  ['read', 1, 3],
] as const)(
  'other work runs between calls that take long to %s, with %i records and %i triggers',
  async (slow, records, count) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const order: string[] = [];
    const work = (what: 'prepare' | 'read'): void => {
      if (what !== slow) return;
      order.push(what);
      vi.advanceTimersByTime(50);
    };
    const triggers = Array.from({ length: count }, (): CompiledTrigger => ({
      kind: 'log',
      prepare({ logIndex }) {
        work('prepare');
        return { to: '0xc0', data: `0x0${String(logIndex)}` };
      },
      read() {
        work('read');
        return [];
      },
    }));
    let isDone = false;
    const logs = Array.from({ length: records }, (_, n) => log(n));
    const completed = complete(tailOf(logs), triggers).then(() => (isDone = true));
    while (!isDone) {
      await nextTurn();
      if (order.at(-1) === slow) order.push('other work');
    }
    await completed;
    expect(order).toEqual([slow, 'other work', slow, 'other work', slow, 'other work']);
  },
);
