/**
 * Tests end to end, on a real chain, which calls a stream matches, live from `callTracer` and later
 * from `trace_block`. Generated transactions call trees of contracts, by every kind of call, from
 * constructors, and as operations of accounts. The expected calls follow from the trees, and viem
 * decodes their arguments.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@sluice/kit';
import type { EvmWebhook, WebhookCall } from '@sluice/kit/contract';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import {
  type Anvil,
  type WebhookSink,
  entryPoint,
  smartAccount,
  startAnvil,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import fc from 'fast-check';
import {
  type AbiFunction,
  type Hex,
  concat,
  decodeFunctionData,
  encodeFunctionData,
  numberToHex,
  parseAbi,
  size,
  slice,
  toFunctionSelector,
  toFunctionSignature,
} from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
/** Number of generated transactions; more are run by hand. */
const RUNS = Number(process.env['CALL_RUNS'] ?? 300);
const PER_BLOCK = 3;
const GAS = '0x895440';
/** Number of newest blocks whose state anvil keeps. Only those can be traced with `callTracer`. */
const STATES = 64;

/**
 * The selectors of the first two are the same, but their arguments have different sizes. The
 * selector of the last one is also code without effect (`PUSH2`, `POP`), with which constructors
 * start.
 */
const FUNCTIONS = parseAbi([
  'function transfer(address to, uint256 amount)',
  'function many_msg_babbage(bytes1 mark)',
  'function pay(address to, uint256[] amounts)',
  'function note(string text, bytes data)',
  'function start66310(uint256 count)',
]) as readonly AbiFunction[];

const CONSTRUCTOR = toFunctionSelector(FUNCTIONS.at(-1)!);

const hex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`;
const anyBytes = fc.uint8Array({ maxLength: 40 }).map(hex);
const anyAmount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const bytesOf = (size: number) => fc.uint8Array({ minLength: size, maxLength: size }).map(hex);
const anyArguments: Record<string, fc.Arbitrary<unknown[]>> = {
  transfer: fc.tuple(bytesOf(20), anyAmount),
  many_msg_babbage: fc.tuple(bytesOf(1)),
  pay: fc.tuple(bytesOf(20), fc.array(anyAmount, { maxLength: 2 })),
  start66310: fc.tuple(anyAmount),
  note: fc.tuple(fc.string({ unit: 'grapheme', maxLength: 20 }), anyBytes),
};
const anyEncoded = fc
  .constantFrom(...FUNCTIONS)
  .chain((item) =>
    anyArguments[item.name]!.map((args) => encodeFunctionData({ abi: [item], args })),
  );
const anyInput = fc.oneof(
  { weight: 4, arbitrary: anyEncoded },
  // Truncated
  fc
    .tuple(anyEncoded, fc.nat())
    .map(([input, n]) => (n % size(input) === 0 ? '0x' : slice(input, 0, n % size(input)))),
  // A selector that differs in one bit
  fc.tuple(anyEncoded, fc.nat(31)).map(([input, bit]): Hex => {
    const selector = BigInt(slice(input, 0, 4)) ^ (1n << BigInt(bit));
    return concat([numberToHex(selector, { size: 4 }), slice(input, 4)]);
  }),
  anyBytes,
);

const OPERATIONS = { call: 'f1', callcode: 'f2', delegatecall: 'f4', staticcall: 'fa' } as const;
type Kind = keyof typeof OPERATIONS | 'create';

interface Made {
  kind: Kind;
  input: Hex;
  isFailed: boolean;
  calls: Made[];
}
const { made: anyMade } = fc.letrec<{ made: Made }>((tie) => ({
  made: fc.record({
    kind: fc.constantFrom<Kind>('call', 'callcode', 'delegatecall', 'staticcall', 'create'),
    input: anyInput,
    isFailed: fc.constantFrom(false, false, false, true),
    calls: fc.oneof(
      { maxDepth: 3 },
      fc.constant<Made[]>([]),
      fc.array(tie('made'), { minLength: 1, maxLength: 2 }),
    ),
  }),
}));

/** Static calls cannot create contracts. */
const withoutCreations = (made: Made): Made => ({
  ...made,
  kind: made.kind === 'create' ? 'delegatecall' : made.kind,
  calls: made.calls.map(withoutCreations),
});
const toPossible = (made: Made): Made => ({
  ...made,
  calls: made.calls.map(made.kind === 'staticcall' ? withoutCreations : toPossible),
});

/** A call with the address of the contract that runs it. */
interface Placed extends Omit<Made, 'calls'> {
  address: Hex;
  code: string;
  calls: Placed[];
}

let anvil: Anvil;
let sink: WebhookSink;
let service: Served;
let client: Client;
let sluice: SluiceClient;
const folder = mkdtempSync(join(tmpdir(), 'sluice-calls-'));

beforeAll(async () => {
  [anvil, sink] = await Promise.all([startAnvil(), startWebhookSink()]);
  service = await serve([
    ...['--data', join(folder, 'data')],
    ...['--chain', `${CHAIN}=${anvil.url},confirmations=1,poll=50`],
  ]);
  client = createClient({ apiKey: API_KEY, baseUrl: service.url });
  sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: service.url });
  await anvil.request('evm_setAutomine', [false]);
}, 60_000);
afterAll(async () => {
  await service?.stop();
  await Promise.all([sink?.close(), anvil?.stop()]);
  rmSync(folder, { recursive: true });
});

const word = (value: number): string => value.toString(16).padStart(4, '0');

/** Assembles code that writes the bytes to memory. */
const codeOfBytes = (bytes: string): string =>
  Array.from({ length: Math.ceil(bytes.length / 64) }, (_, n) => {
    const part = bytes.slice(64 * n, 64 * (n + 1)).padEnd(64, '0');
    return `7f${part}61${word(32 * n)}52`;
  }).join('');

/** Assembles a call, whose result is dropped. */
function codeOfCall({ kind, input, address, code }: Placed): string {
  if (kind === 'create') return `${codeOfBytes(code)}61${word(code.length / 2)}5f5ff050`;
  const value = kind === 'call' || kind === 'callcode' ? '5f' : '';
  const memory = `5f5f61${word(size(input))}5f`;
  return `${codeOfBytes(input.slice(2))}${memory}${value}73${address.slice(2)}5a${OPERATIONS[kind]}50`;
}

const FIRST_ADDRESS = 0xca11_0000;
let nextAddress = FIRST_ADDRESS;
async function place(made: Made): Promise<Placed> {
  const address: Hex = `0x${(nextAddress++).toString(16).padStart(40, '0')}`;
  const calls = await Promise.all(made.calls.map(place));
  const end = made.isFailed ? '5f5ffd' : '00';
  const start = made.kind === 'create' ? CONSTRUCTOR.slice(2) : '';
  const code = start + calls.map(codeOfCall).join('') + end;
  if (made.kind !== 'create') await anvil.request('anvil_setCode', [address, `0x${code}`]);
  return { ...made, address, code, calls };
}

interface Expected {
  transactionHash: Hex;
  traceAddress: number[];
  type: string;
  /** Undefined for the address of a created contract. */
  from: string | undefined;
  to: string;
  status: string;
  function: string;
  arguments: unknown[] | null;
}

/** Returns the function of the input and its arguments, decoded with viem. */
function readWithViem(input: Hex): Pick<Expected, 'function' | 'arguments'> | undefined {
  const selector = input.slice(0, 10);
  const known = FUNCTIONS.filter((item) => toFunctionSelector(item) === selector);
  for (const item of known) {
    try {
      const { args } = decodeFunctionData({ abi: [item], data: input });
      return { function: toFunctionSignature(item), arguments: toPlain(args) as unknown[] };
    } catch {}
  }
  return known[0] && { function: toFunctionSignature(known[0]), arguments: null };
}

/** Converts viem's values to the webhook's form. */
const toPlain = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(toPlain)
    : typeof value === 'bigint'
      ? String(value)
      : String(value).startsWith('0x')
        ? String(value).toLowerCase()
        : value;

function* expectedOf(
  call: Placed,
  at: { transactionHash: Hex; traceAddress: number[]; from: string | undefined; isUndone: boolean },
): Generator<Expected> {
  const isUndone = at.isUndone || call.isFailed;
  const read = call.kind === 'create' ? undefined : readWithViem(call.input);
  if (read !== undefined) {
    yield {
      transactionHash: at.transactionHash,
      traceAddress: at.traceAddress,
      type: call.kind,
      from: at.from,
      to: call.address,
      status: isUndone ? 'failed' : 'success',
      ...read,
    };
  }
  const isOwn = call.kind === 'call' || call.kind === 'staticcall';
  const from = isOwn ? call.address : call.kind === 'create' ? undefined : at.from;
  for (const [n, each] of call.calls.entries()) {
    yield* expectedOf(each, { ...at, traceAddress: [...at.traceAddress, n], from, isUndone });
  }
}

const sender = (): Hex => anvil.accounts[1]!.address;
const send = (transaction: { to?: Hex; data: Hex }): Promise<Hex> =>
  anvil.request<Hex>('eth_sendTransaction', [{ from: sender(), gas: GAS, ...transaction }]);

async function deploy(data: Hex): Promise<Hex> {
  const hash = await send({ data });
  await anvil.request('evm_mine');
  const { contractAddress } = await anvil.request<{ contractAddress: Hex }>(
    'eth_getTransactionReceipt',
    [hash],
  );
  return contractAddress;
}

/** Sends a transaction that makes these calls, and returns the calls that streams should match. */
async function sendMade(
  [made, other]: readonly [Made, Made],
  how: 'transaction' | 'creation' | 'operations',
  at: { entryPoint: Hex; account: Hex },
): Promise<Expected[]> {
  if (how === 'operations') {
    const calls = await Promise.all(
      [made, other].map((each) => place(toPossible({ ...each, kind: 'call' }))),
    );
    const operations = calls.map(({ address, input }) => ({
      account: at.account,
      callData: encodeFunctionData({
        abi: smartAccount.abi,
        functionName: 'execute',
        args: [address, 0n, input],
      }),
    }));
    const data = encodeFunctionData({
      abi: entryPoint.abi,
      functionName: 'handleOps',
      args: [operations],
    });
    const transactionHash = await send({ to: at.entryPoint, data });
    return calls.flatMap((call, n) => [
      ...expectedOf(call, {
        transactionHash,
        traceAddress: [n, 0],
        from: at.account,
        isUndone: false,
      }),
    ]);
  }
  const kind = how === 'creation' ? 'create' : 'call';
  const root = await place(toPossible({ ...made, kind }));
  const transactionHash = await send(
    kind === 'create' ? { data: `0x${root.code}` } : { to: root.address, data: root.input },
  );
  return [
    ...expectedOf(root, { transactionHash, traceAddress: [], from: sender(), isUndone: false }),
  ];
}

const toComparable = (call: WebhookCall, from: string | undefined) => ({
  transactionHash: call.transactionHash,
  traceAddress: call.traceAddress,
  type: call.type,
  from: from && call.from,
  to: call.to,
  status: call.status,
  function: call.function,
  arguments: call.arguments?.map(({ value }) => value) ?? null,
});

/**
 * Waits until a number reaches its target, however long this takes. Fails if it does not change
 * within a minute.
 */
async function reach(what: string, target: number, read: () => Promise<number>): Promise<void> {
  for (let last = await read(); last < target;) {
    last = await until(`${what} after ${last} of ${target}`, async () => {
      const now = await read();
      return now > last && now;
    });
  }
}

const readCheckpoint = async (): Promise<number> =>
  (await sluice.listChains())[0]?.checkpoint ?? -1;

const createStream = (tag: string): Promise<{ id: string }> =>
  client.streams.create({
    webhookUrl: `${sink.url}/${tag}`,
    description: '',
    tag,
    chainIds: [CHAIN],
    allAddresses: true,
    functions: FUNCTIONS.map(toFunctionSignature),
    includeInternalCalls: true,
    transactionStatus: 'any',
    deliver: 'confirmed',
  });

/** Waits for the calls that a stream receives, and compares them. */
async function expectCalls(tag: string, expected: readonly Expected[], seed: number) {
  const bodies: EvmWebhook[] = [];
  let calls = 0;
  let read = 0;
  await reach('calls arrive', expected.length, async () => {
    for (const { path, body } of sink.requests.slice(read)) {
      read++;
      const webhook = JSON.parse(body) as EvmWebhook;
      if (path !== `/${tag}` || webhook.streamId === '') continue;
      bodies.push(webhook);
      calls += webhook.calls?.length ?? 0;
    }
    return calls;
  });
  const found = Map.groupBy(
    bodies
      .toSorted((a, b) => Number(a.block.number) - Number(b.block.number))
      .flatMap((body) => body.calls ?? []),
    ({ transactionHash }) => transactionHash,
  );
  const wanted = Map.groupBy(expected, ({ transactionHash }) => transactionHash);
  for (const [hash, own] of wanted) {
    const its = (found.get(hash) ?? []).map((call, n) => toComparable(call, own[n]?.from));
    expect(its, `seed ${seed}, transaction ${hash}`).toEqual(own);
  }
  expect([...found.keys()], `seed ${seed}`).toEqual([...wanted.keys()]);
}

test(
  'a stream has the calls of generated transactions',
  async () => {
    await until('the chain is live', async () => (await sluice.listChains())[0]?.state === 'live');
    const at = {
      entryPoint: await deploy(entryPoint.bytecode),
      account: await deploy(smartAccount.bytecode),
    };
    const first = Number(await anvil.request('eth_blockNumber')) + 1;
    await createStream('live');
    const seed = Math.trunc(Math.random() * 2 ** 31);
    const expected: Expected[] = [];
    const samples = fc.sample(fc.tuple(anyMade, anyMade), { numRuns: RUNS, seed });
    for (const [n, made] of samples.entries()) {
      const how = (['transaction', 'creation', 'operations'] as const)[n % 3]!;
      expected.push(...(await sendMade(made, how, at)));
      if (n % PER_BLOCK < PER_BLOCK - 1) continue;
      await anvil.request('evm_mine');
      nextAddress = FIRST_ADDRESS;
      const block = first + (n + 1) / PER_BLOCK - 1;
      // The node is never asked for traces while it mines: a request sometimes hung then.
      await reach('blocks are matched', block, readCheckpoint);
    }
    expect(expected.length).toBeGreaterThan(RUNS);
    await anvil.request('anvil_mine', [`0x${STATES.toString(16)}`]);
    await expectCalls('live', expected, seed);

    const { id: streamId } = await createStream('past');
    const blocks = { blockFrom: first, blockTo: first + Math.ceil(RUNS / PER_BLOCK) - 1 };
    await client.streams.createHistoricalJob({ streamId, chainId: CHAIN, ...blocks });
    await expectCalls('past', expected, seed);
  },
  60_000 + 200 * RUNS,
);
