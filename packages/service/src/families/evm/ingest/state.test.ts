import { type Anvil, answers, multicall, startAnvil } from '@sluice/testkit';
import { type Hex, encodeAbiParameters, encodeErrorResult, encodeFunctionData } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StateAnswer, StateCall, StateReader } from '../enrich/state.ts';
import type { BlockRef } from '../../../store/blocks/contract.ts';
import { createRpcClient } from './rpc/createRpcClient.ts';
import { SourceError } from '../../../ingest/source.ts';
import { MULTICALL, createStateReader } from './state.ts';

/** A chain with a contract whose calls return, revert or run out of gas. */
let anvil: Anvil;
let client: ReturnType<typeof createRpcClient>;
let contract: string;
/**
 * The head before the first call to `draw`, after one call, and after two. Multicall3 exists only
 * in the last block.
 */
let blocks: BlockRef[];
const artist = (): string => anvil.accounts[0]!.address;

async function headOf({ request }: Anvil): Promise<BlockRef> {
  const head = await request<{ number: Hex; hash: Hex }>('eth_getBlockByNumber', ['latest', false]);
  return { number: Number(head.number), hash: head.hash };
}

const SHAPE = { label: 'a', points: [{ x: 1n, y: -1 }], closed: true };

/**
 * Mines a transaction in its own block. Returns the address of the contract that it creates; null
 * if it creates none.
 */
async function mine(transaction: object): Promise<string> {
  const hash = await anvil.request('eth_sendTransaction', [
    { from: artist(), gas: '0x4c4b40', ...transaction },
  ]);
  await anvil.request('evm_mine');
  const receipt = await anvil.request<{ contractAddress: string }>('eth_getTransactionReceipt', [
    hash,
  ]);
  return receipt.contractAddress;
}

async function draw(): Promise<void> {
  const data = encodeFunctionData({ abi: answers.abi, functionName: 'draw', args: [SHAPE] });
  await mine({ to: contract, data, value: '0xde0b6b3a7640000' });
}

/** Deploys Multicall3, and copies its code to its well-known address. */
async function placeMulticall(): Promise<void> {
  const address = await mine({ data: multicall.bytecode });
  const code = await anvil.request('eth_getCode', [address, 'latest']);
  await anvil.request('anvil_setCode', [MULTICALL, code]);
}

beforeAll(async () => {
  anvil = await startAnvil();
  client = createRpcClient(anvil.url, 'anvil');
  contract = await mine({ data: answers.bytecode });
  blocks = [await headOf(anvil)];
  await draw();
  blocks.push(await headOf(anvil));
  await placeMulticall();
  await draw();
  blocks.push(await headOf(anvil));
});

afterAll(async () => {
  await client.close();
  await anvil.kill();
});

interface Requested {
  method: string;
  params: readonly unknown[];
}

/** Creates a reader that records its requests to Anvil. `answer` can replace responses. */
function createReader(answer?: (request: Requested) => unknown): {
  reader: StateReader;
  requests: Requested[];
} {
  const requests: Requested[] = [];
  return {
    requests,
    reader: createStateReader({
      providers: () => [],
      async requestAt(_, method, params) {
        requests.push({ method, params });
        return answer?.({ method, params }) ?? (await client.request(method, params));
      },
    }),
  };
}

const callOf = (
  functionName: (typeof answers.abi)[number] extends infer Item
    ? Item extends { type: 'function'; name: infer Name; inputs: readonly [] }
      ? Name
      : never
    : never,
  from?: string,
): StateCall => ({
  to: contract,
  data: encodeFunctionData({ abi: answers.abi, functionName }),
  ...(from !== undefined && { from }),
});

const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`;
const read = (value: string): StateAnswer => ({ outcome: 'read', value });
const failed = (message: string): StateAnswer => ({ outcome: 'failed', message });

const unwilling = encodeErrorResult({ abi: answers.abi, errorName: 'Unwilling', args: [7n] });

const WITHOUT = 1;
const WITH = 2;

describe.each([
  ['one by one', WITHOUT],
  ['through Multicall3', WITH],
])('calls made %s', (_, at) => {
  test('have one result each, in order', async () => {
    const { reader, requests } = createReader();
    const calls = [
      callOf('drawings'),
      callOf('refuse'),
      callOf('refuseWithError'),
      callOf('refuseSilently'),
      { to: contract, data: encodeDivide(0n) },
      { to: contract, data: encodeDivide(1n) },
      { to: `0x${'77'.repeat(20)}`, data: '0x12345678' },
      callOf('drawings'),
    ];
    expect(await reader.call(blocks[at]!, calls)).toEqual([
      read(word(BigInt(at))),
      failed('execution reverted: not today'),
      failed(`execution reverted: ${unwilling}`),
      failed('execution reverted'),
      failed('execution reverted: panic 0x12'),
      read(word(1n)),
      read('0x'),
      read(word(BigInt(at))),
    ]);
    const ethCalls = requests.filter(({ method }) => method === 'eth_call');
    // With Multicall3, the batch is one request, and the call that failed without a reason is
    // repeated alone.
    expect(ethCalls).toHaveLength(at === WITH ? 2 : calls.length);
  });

  test('read the requested block, even if the head has moved on', async () => {
    const { reader } = createReader();
    const before = blocks[at - 1]!;
    const calls = [callOf('drawings'), callOf('drawings')];
    expect(await reader.call(before, calls)).toEqual(calls.map(() => read(word(BigInt(at - 1)))));
  });

  test('use their own sender', async () => {
    const { reader } = createReader();
    const sender = '0x00000000000000000000000000000000000000aa';
    expect(
      await reader.call(blocks[at]!, [
        callOf('drawings'),
        callOf('asker', sender),
        callOf('asker'),
      ]),
    ).toEqual([
      read(word(BigInt(at))),
      read(word(BigInt(sender))),
      read(word(at === WITH ? BigInt(MULTICALL) : 0n)),
    ]);
  });

  test('that use up all gas do not affect the others', async () => {
    const { reader } = createReader();
    const [first, drawings, second, ...others] = await reader.call(blocks[at]!, [
      callOf('exhaust'),
      callOf('drawings'),
      callOf('exhaust'),
      callOf('drawings'),
      callOf('drawings'),
    ]);
    expect([first!.outcome, second!.outcome]).toEqual(['failed', 'failed']);
    expect([drawings, ...others]).toEqual(Array(3).fill(read(word(BigInt(at)))));
  });

  test('return hundreds of results', async () => {
    const { reader, requests } = createReader();
    const calls = Array.from({ length: 250 }, () => callOf('drawings'));
    expect(await reader.call(blocks[at]!, calls)).toEqual(calls.map(() => read(word(BigInt(at)))));
    const ethCalls = requests.filter(({ method }) => method === 'eth_call');
    expect(ethCalls).toHaveLength(at === WITH ? 1 : 250);
  });

  test('return balances as of the end of the block', async () => {
    const { reader } = createReader();
    const nobody = '0x00000000000000000000000000000000000000bb';
    expect(await reader.balances(blocks[at]!, [contract, nobody])).toEqual([
      read(`${at}000000000000000000`),
      read('0'),
    ]);
    expect(await reader.balances(blocks[at]!, [contract])).toEqual([
      read(`${at}000000000000000000`),
    ]);
  });
});

const encodeDivide = (by: bigint): Hex =>
  encodeFunctionData({ abi: answers.abi, functionName: 'divide', args: [by] });

const head = (): BlockRef => blocks[WITH]!;

test('a multicall that fails as a whole is repeated call by call', async () => {
  let refusals = 0;
  const { reader } = createReader(({ method, params }) => {
    if (method !== 'eth_call' || (params[0] as StateCall).to !== MULTICALL) return undefined;
    refusals++;
    throw new SourceError('too-large', 'anvil: eth_call failed: response too large (-32000)');
  });
  const calls = [callOf('drawings'), callOf('drawings')];
  expect(await reader.call(head(), calls)).toEqual(calls.map(() => read(word(2n))));
  expect(refusals).toBe(1);
});

test.each([
  ['alone', 1],
  ['with others', 3],
])('a call %s that returns too much fails without affecting the others', async (_, count) => {
  const calls = Array.from({ length: count }, () => callOf('drawings'));
  const { reader } = createReader();
  expect(await reader.call(head(), [{ ...calls[0]!, maxBytes: 31 }, ...calls.slice(1)])).toEqual([
    failed('more than 31 bytes were returned'),
    ...calls.slice(1).map(() => read(word(2n))),
  ]);
});

/** Refuses requests that identify the block by its hash. */
const refuseHashes = ({ params }: Pick<Requested, 'params'>): undefined => {
  if (typeof params[1] !== 'object') return;
  throw new SourceError('refused', 'anvil: eth_call failed: invalid argument 1 (-32602)', {
    rpcCode: -32602,
  });
};

test.each(['hash', 'number'])('a response by %s is read only up to its useful size', async (by) => {
  const bounds: unknown[] = [];
  const reader = createStateReader({
    providers: () => [],
    async requestAt(_, method, params, { maxBytes } = {}) {
      if (by === 'number') refuseHashes({ params });
      if (method === 'eth_call') bounds.push(maxBytes);
      if (bounds.length === 2) {
        throw new SourceError('too-large', 'anvil: eth_call failed: the answer is more (cut off)');
      }
      return client.request(method, params);
    },
  });
  const small = { ...callOf('drawings'), maxBytes: 4096 };
  await reader.call(head(), [small, small]);
  expect(await reader.call(head(), [small])).toEqual([
    failed('more than 4096 bytes were returned'),
  ]);
  await reader.call(head(), [callOf('drawings')]);
  expect(bounds).toEqual([1_048_576, 4096 + 2 * 4096, 4096 + 2 * 65_536]);
});

test('a multicall whose results share their data is repeated call by call', async () => {
  const calls = Array.from({ length: 3 }, () => callOf('drawings'));
  const wordOf = (n: number): string => n.toString(16).padStart(64, '0');
  // All 3 results point to the same word.
  const shared = `0x${[32, 3, 96, 96, 96, 1, 64, 32, 7].map(wordOf).join('')}`;
  const { reader } = createReader(({ method, params }) =>
    method === 'eth_call' && (params[0] as StateCall).to === MULTICALL ? shared : undefined,
  );
  expect(await reader.call(head(), calls)).toEqual(calls.map(() => read(word(2n))));
});

test('a chain that was replaced by one without Multicall3 is read call by call', async () => {
  const { reader } = createReader(({ method, params }) =>
    method === 'eth_call' && (params[0] as StateCall).to === MULTICALL ? '0x' : undefined,
  );
  const calls = [callOf('drawings'), callOf('drawings')];
  expect(await reader.call(head(), calls)).toEqual(calls.map(() => read(word(2n))));
});

test('Multicall3 is looked up once if present, and not at each block if absent', async () => {
  const looks = (requests: Requested[]): number =>
    requests.filter(({ method }) => method === 'eth_getCode').length;
  const there = createReader();
  const calls = [callOf('drawings'), callOf('drawings')];
  for (let n = 0; n < 3; n++) await there.reader.call(head(), calls);
  expect(looks(there.requests)).toBe(1);
  const absent = createReader();
  for (let n = 0; n < 3; n++) await absent.reader.call(blocks[WITHOUT]!, calls);
  expect(looks(absent.requests)).toBe(1);
});

test('a thousand calls and balances take two requests', async () => {
  const { reader, requests } = createReader();
  await reader.call(head(), [callOf('drawings'), callOf('drawings')]);
  requests.length = 0;
  const calls = Array.from({ length: 900 }, () => callOf('drawings'));
  const accounts = Array.from({ length: 100 }, () => ({ account: contract }));
  expect(await reader.read(head(), [...accounts, ...calls])).toEqual([
    ...accounts.map(() => read(String(2n * 10n ** 18n))),
    ...calls.map(() => read(word(2n))),
  ]);
  expect(requests.map(({ method }) => method)).toEqual(['eth_call', 'eth_call']);
});

test('calls that use up the gas of their batch are made alone from then on', async () => {
  const { reader, requests } = createReader();
  const healthy = Array.from({ length: 300 }, () => callOf('drawings'));
  const calls = [callOf('exhaust'), ...healthy, callOf('refuseSilently'), ...healthy];
  for (let n = 0; n < 3; n++) {
    requests.length = 0;
    const answers = await reader.call(head(), calls);
    expect(answers.filter(({ outcome }) => outcome === 'failed')).toHaveLength(2);
    expect(answers.filter(({ outcome }) => outcome === 'read')).toHaveLength(600);
  }
  // Two batches, and each failing call.
  expect(requests).toHaveLength(4);
});

test('calls that nodes could not answer are made together again', async () => {
  let isAway = true;
  const { reader, requests } = createReader(({ method }) => {
    if (isAway && method === 'eth_call') throw new SourceError('inconsistent', 'no result');
    return undefined;
  });
  const calls = [callOf('drawings'), callOf('drawings')];
  expect(await reader.call(head(), calls)).toMatchObject(calls.map(() => ({ outcome: 'refused' })));
  isAway = false;
  requests.length = 0;
  expect(await reader.call(head(), calls)).toEqual(calls.map(() => read(word(2n))));
  expect(requests.filter(({ method }) => method === 'eth_call')).toHaveLength(1);
});

test('a batch that its node refuses is divided', async () => {
  const sizes: number[] = [];
  const { reader } = createReader(({ method, params }) => {
    const [{ to, data }] = params as [{ to: string; data: string }];
    if (method !== 'eth_call' || to !== MULTICALL) return undefined;
    sizes.push(Math.round(data.length / 320));
    if (data.length > 120 * 320) throw new SourceError('refused', 'node-1: out of gas');
    return undefined;
  });
  const calls = Array.from({ length: 400 }, () => callOf('drawings'));
  expect(await reader.call(head(), calls)).toEqual(calls.map(() => read(word(2n))));
  sizes.length = 0;
  await reader.call(head(), calls);
  // The smaller size is remembered.
  expect(sizes).toEqual([100, 100, 100, 100].map(() => sizes[0]));
});

test('the block is identified by its hash', async () => {
  const { reader, requests } = createReader();
  await reader.call(head(), [callOf('drawings')]);
  expect(requests[0]!.params[1]).toEqual({ blockHash: head().hash, requireCanonical: false });
});

describe('a node that does not accept block hashes', () => {
  test('is queried by number, and its hash at that number is checked', async () => {
    const { reader, requests } = createReader(refuseHashes);
    expect(await reader.call(blocks[0]!, [callOf('drawings')])).toEqual([read(word(0n))]);
    expect(await reader.call(head(), [callOf('drawings')])).toEqual([read(word(2n))]);
    // After the node has rejected a hash, the reader uses only numbers.
    expect(requests.map(({ method }) => method)).toEqual([
      'eth_call',
      'eth_call',
      'eth_getBlockByNumber',
      'eth_call',
      'eth_getBlockByNumber',
    ]);
  });

  test('is ignored if it has another block at that number', async () => {
    const { reader } = createReader(refuseHashes);
    const orphan = { number: head().number, hash: `0x${'ab'.repeat(32)}` };
    expect(await reader.call(orphan, [callOf('drawings')])).toEqual([
      { outcome: 'refused', message: `no node has the state of block ${orphan.number}` },
    ]);
  });

  test('is ignored if it has no block at that number anymore', async () => {
    const reader = createStateReader({
      providers: () => [],
      requestAt(_, method, params) {
        refuseHashes({ params });
        return Promise.resolve(method === 'eth_call' ? word(1n) : null);
      },
    });
    expect(await reader.call(head(), [callOf('drawings')])).toEqual([
      { outcome: 'refused', message: `no node has the state of block ${head().number}` },
    ]);
  });
});

test('a block that no node has is refused, and so is a method that no node supports', async () => {
  const { reader } = createReader();
  const orphan = { number: 9, hash: `0x${'ab'.repeat(32)}` };
  const [answer] = await reader.call(orphan, [callOf('drawings')]);
  expect(answer).toEqual({ outcome: 'refused', message: 'no node has the state of block 9' });
  const unsupported = createReader(() => {
    throw new SourceError('unsupported', 'anvil: eth_call failed: method not found (-32601)');
  });
  expect(await unsupported.reader.balances(head(), [contract])).toEqual([
    { outcome: 'refused', message: 'method not found' },
  ]);
});

test('an outage throws, without naming a contract', async () => {
  const { reader } = createReader(() => {
    throw new SourceError('unreachable', 'node-1: connection refused');
  });
  await expect(reader.call(head(), [callOf('drawings')])).rejects.toThrow(
    expect.objectContaining({ code: 'unavailable', message: 'node-1: connection refused' }),
  );
});

describe('a contract whose calls get no response', () => {
  const BOMB = `0x${'b0'.repeat(20)}`;
  const bomb: StateCall = { to: BOMB, data: '0x12345678' };
  const unanswered = {
    outcome: 'refused',
    message: 'the nodes did not respond to this call in time',
  } as const;
  const mentionsBomb = (params: readonly unknown[]): boolean =>
    JSON.stringify(params).includes(BOMB.slice(2));

  test('is refused while the nodes respond to others, alone and in a batch', async () => {
    const { reader } = createReader(({ method, params }) => {
      if (method !== 'eth_call' || !mentionsBomb(params)) return undefined;
      throw new SourceError('unreachable', 'node-1: the request timed out');
    });
    expect(await reader.call(head(), [bomb])).toEqual([unanswered]);
    const others = [callOf('drawings'), callOf('drawings')];
    const { reader: another } = createReader(({ method, params }) => {
      if (method !== 'eth_call' || !mentionsBomb(params)) return undefined;
      throw new SourceError('refused', 'node-1: eth_call failed: execution aborted (timeout = 5s)');
    });
    for (const each of [reader, another]) {
      const [refused, ...answers] = await each.call(head(), [bomb, ...others]);
      expect(refused!.outcome).not.toBe('read');
      expect(answers).toEqual(others.map(() => read(word(2n))));
    }
  });

  test('holds one request at first, and then only a share for slow calls', async () => {
    const orders: (string | undefined)[] = [];
    let fail = (): void => {};
    const reader = createStateReader({
      providers: () => [],
      async requestAt(_, method, params, how) {
        if (method !== 'eth_call') return client.request(method, params);
        const { to } = params[0] as StateCall;
        if (to !== BOMB) return client.request(method, params);
        orders.push(how?.order);
        return new Promise((_resolve, reject) => {
          fail = () => reject(new SourceError('unreachable', 'node-1: the request timed out'));
        });
      },
    });
    const alone = blocks[WITHOUT]!;
    const many = Array.from({ length: 20 }, () => reader.call(alone, [bomb]));
    await expect.poll(() => orders).toEqual(['aside']);
    // A contract that responds is called meanwhile.
    expect(await reader.call(alone, [callOf('drawings')])).toEqual([read(word(1n))]);
    fail();
    for (const each of many) expect(await each).toEqual([unanswered]);
    const again = reader.call(head(), [bomb, callOf('drawings'), callOf('drawings')]);
    await expect.poll(() => orders).toEqual(['aside', 'slow']);
    fail();
    expect(await again).toEqual([unanswered, read(word(2n)), read(word(2n))]);
  });

  test('is not called for a while after three timeouts, unless no call gets a response', async () => {
    let isOutage = false;
    const { reader, requests } = createReader(({ method, params }) => {
      if (method !== 'eth_call' || !(isOutage || mentionsBomb(params))) return undefined;
      throw new SourceError('unreachable', 'node-1: the request timed out');
    });
    isOutage = true;
    for (let n = 0; n < 5; n++) {
      await expect(reader.call(head(), [bomb])).rejects.toThrow('timed out');
    }
    isOutage = false;
    for (let n = 0; n < 3; n++) expect(await reader.call(head(), [bomb])).toEqual([unanswered]);
    requests.length = 0;
    expect(await reader.call(head(), [bomb])).toEqual([failed(unanswered.message)]);
    expect(requests).toEqual([]);
  });
});

test('the reason of a revert has no control characters, alone and in a batch', async () => {
  const reason = 'bad\u0007\u202e\ntoken\u2066';
  const error = encodeErrorResult({ abi: errorAbi, errorName: 'Error', args: [reason] });
  const results = encodeAbiParameters(
    [{ type: 'tuple[]', components: [{ type: 'bool' }, { type: 'bytes' }] }],
    [Array.from({ length: 2 }, () => [false, error] as const)],
  );
  const { reader } = createReader(({ method, params }) =>
    method === 'eth_call' && (params[0] as StateCall).to === MULTICALL ? results : undefined,
  );
  const calls = [callOf('drawings'), callOf('drawings')];
  const shown = calls.map(() => failed('execution reverted: bad token'));
  expect(await reader.call(head(), calls)).toEqual(shown);
  const { reader: single } = createReader(() => {
    throw new SourceError('refused', 'n: eth_call failed: reverted (3)', {
      rpcCode: 3,
      data: error,
    });
  });
  expect(await single.call(head(), calls.slice(1))).toEqual(shown.slice(1));
});

const errorAbi = [
  { type: 'error', name: 'Error', inputs: [{ name: 'reason', type: 'string' }] },
] as const;

test('the reason of a revert is the same from data and from text', async () => {
  const data = `0x08c379a0${encodeAbiParameters([{ type: 'string' }], ['no more']).slice(2)}`;
  const answerWith = async (error: SourceError) => {
    const { reader } = createReader(() => {
      throw error;
    });
    return reader.call(head(), [callOf('drawings')]);
  };
  expect(
    await answerWith(
      new SourceError('refused', 'n: eth_call failed: VM execution error. (-32015)', {
        rpcCode: -32015,
        data: `Reverted ${data}`,
      }),
    ),
  ).toEqual([failed('execution reverted: no more')]);
  expect(
    await answerWith(
      new SourceError('refused', 'n: eth_call failed: execution reverted: no more (3)', {
        rpcCode: 3,
      }),
    ),
  ).toEqual([failed('execution reverted: no more')]);
});
