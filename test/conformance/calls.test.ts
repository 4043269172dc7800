/**
 * Tests end to end, on a real chain, which calls a stream matches. Generated transactions call trees
 * of contracts, by every kind of call, from constructors, and as operations of accounts. The
 * expected calls follow from the trees, and viem decodes their arguments.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import type { EvmWebhook, WebhookCall } from '@sluice/kit/contract';
import { createSluiceClient } from '@sluice/kit/sluice';
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
  decodeFunctionData,
  encodeFunctionData,
  parseAbi,
  size,
  slice,
  toFunctionSelector,
  toFunctionSignature,
} from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const TRANSACTIONS = 60;
const PER_BLOCK = 3;
const GAS = '0x895440';

/** The selectors of the first two are the same. */
const FUNCTIONS = parseAbi([
  'function burn(uint256 amount)',
  'function collate_propagate_storage(bytes16 key)',
  'function pay(address to, uint256[] amounts)',
  'function note(string text, bytes data)',
]) as readonly AbiFunction[];

const hex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`;
const anyBytes = fc.uint8Array({ maxLength: 40 }).map(hex);
const anyAmount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const anyArguments: Record<string, fc.Arbitrary<unknown[]>> = {
  burn: fc.tuple(anyAmount),
  collate_propagate_storage: fc.tuple(fc.uint8Array({ minLength: 16, maxLength: 16 }).map(hex)),
  pay: fc.tuple(
    fc.uint8Array({ minLength: 20, maxLength: 20 }).map(hex),
    fc.array(anyAmount, { maxLength: 2 }),
  ),
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
const folder = mkdtempSync(join(tmpdir(), 'sluice-calls-'));

beforeAll(async () => {
  [anvil, sink] = await Promise.all([startAnvil(), startWebhookSink()]);
  service = await serve([
    ...['--data', join(folder, 'data')],
    ...['--chain', `${CHAIN}=${anvil.url},confirmations=1,poll=50`],
  ]);
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

let placed = 0xca11_0000;
async function place(made: Made): Promise<Placed> {
  const calls: Placed[] = [];
  for (const each of made.calls) calls.push(await place(each));
  const address: Hex = `0x${(placed++).toString(16).padStart(40, '0')}`;
  const end = made.isFailed ? '5f5ffd' : '00';
  const code = calls.map(codeOfCall).join('') + end;
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

test('a stream has the calls of generated transactions', async () => {
  const client = createClient({ apiKey: API_KEY, baseUrl: service.url });
  const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: service.url });
  await until('the chain is live', async () => (await sluice.listChains())[0]?.state === 'live');
  const at = {
    entryPoint: await deploy(entryPoint.bytecode),
    account: await deploy(smartAccount.bytecode),
  };
  await client.streams.create({
    webhookUrl: `${sink.url}/calls`,
    description: '',
    tag: 'calls',
    chainIds: [CHAIN],
    allAddresses: true,
    functions: FUNCTIONS.map(toFunctionSignature),
    includeInternalCalls: true,
    transactionStatus: 'any',
  });

  const seed = Math.trunc(Math.random() * 2 ** 31);
  const expected: Expected[] = [];
  const samples = fc.sample(fc.tuple(anyMade, anyMade), { numRuns: TRANSACTIONS, seed });
  for (const [n, made] of samples.entries()) {
    const how = (['transaction', 'creation', 'operations'] as const)[n % 3]!;
    expected.push(...(await sendMade(made, how, at)));
    if (n % PER_BLOCK === PER_BLOCK - 1) await anvil.request('evm_mine');
  }
  await anvil.request('anvil_mine', ['0x2']);
  const readCalls = (): WebhookCall[] =>
    sink.requests
      .filter(({ path }) => path === '/calls')
      .map(({ body }) => JSON.parse(body) as EvmWebhook)
      .filter(({ confirmed, streamId }) => confirmed && streamId !== '')
      .toSorted((a, b) => Number(a.block.number) - Number(b.block.number))
      .flatMap((body) => body.calls ?? []);
  const head = Number(await anvil.request('eth_blockNumber'));
  await until('the blocks are matched', async () => {
    const [chain] = await sluice.listChains();
    return chain?.checkpoint === head;
  });
  await until(`the calls of seed ${seed} arrive`, () => readCalls().length >= expected.length);
  const calls = readCalls();
  const order = [...new Set(calls.map(({ transactionHash }) => transactionHash))];
  const sorted = expected.toSorted(
    (a, b) => order.indexOf(a.transactionHash) - order.indexOf(b.transactionHash),
  );
  expect(
    calls.map((call, n) => toComparable(call, sorted[n]?.from)),
    `seed ${seed}`,
  ).toEqual(sorted);
  expect(sorted.length).toBeGreaterThan(TRANSACTIONS);
}, 120_000);
