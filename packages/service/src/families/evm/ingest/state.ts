/**
 * Makes calls and reads balances in the state after a block, through a provider that knows the
 * block. Uses batches through Multicall3 if it is deployed, and otherwise one request per call or
 * balance.
 */
import { RetryableError } from '../../../base/errors.ts';
import { compileParameters, cutText } from '@sluice/kit/contract';
import { encodeAbiParameters } from 'viem/utils';
import { readRevert } from '../base/revert.ts';
import {
  MAX_RESULT_BYTES,
  type StateAnswer,
  type StateCall,
  type StateReader,
  type StateRequest,
} from '../enrich/state.ts';
import type { BlockRef } from '../../../store/blocks/contract.ts';
import { createFailureReader } from './failures.ts';
import { createPrunedStates } from './prunedStates.ts';
import { toHex } from '../../../ingest/json.ts';
import { mapLimited } from './mapLimited.ts';
import { isReverted } from './provider.ts';
import { SourceError, isOfKind } from '../../../ingest/source.ts';
import type { EvmSource } from './source.ts';

/** The address of Multicall3 on the chains where it is deployed (github.com/mds1/multicall3). */
export const MULTICALL = '0xca11bde05977b3631167028862be2a173976ca11';
const AGGREGATE = '0x82ad56cb'; // aggregate3((address,bool,bytes)[])
const GET_BALANCE = '0x4d2301cc'; // getEthBalance(address)
/**
 * Maximum response size of a batch. Contracts choose the size of their results, so if a response is
 * larger, the calls are repeated one by one.
 */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Allowance for the JSON around the hex result of a response. */
const ENVELOPE_BYTES = 4096;
const CALLS_PER_REQUEST = 500;
/** Number of calls up to which a failed batch is not divided, but repeated call by call. */
const UNDIVIDED_CALLS = 100;
/** Number of calls without data in a batch up to which they are repeated one by one. */
const FEW_CALLS = 4;
const CALL_CHARACTERS_PER_REQUEST = 256 * 1024;
/** Maximum number of concurrent requests for the calls or balances of one read. */
const CONCURRENCY = 4;
/** Number of blocks after which a missing Multicall3 is looked up again. */
const RECHECK_BLOCKS = 1_000;

/** Time for which a contract is slow after a call timed out. */
const SLOW_FOR_MS = 10 * 60_000;
/** Number of timeouts in a row after which calls to a contract fail while it is slow. */
const MAX_TIMEOUTS = 3;
const NOBODY = `0x${'0'.repeat(40)}`;
/** Maximum number of quick and of slow contracts that are remembered. */
const MAX_REMEMBERED = 10_000;

const AGGREGATE_INPUT = [
  {
    type: 'tuple[]',
    components: [
      { name: 'target', type: 'address' },
      { name: 'allowFailure', type: 'bool' },
      { name: 'callData', type: 'bytes' },
    ],
  },
] as const;
const aggregated = compileParameters([
  {
    name: 'results',
    type: 'tuple[]',
    components: [
      { name: 'success', type: 'bool' },
      { name: 'returnData', type: 'bytes' },
    ],
  },
])!;

/**
 * Makes a request with two parameters, the second of which is the block. The result is lowercase
 * hex.
 */
type RequestState = (
  block: BlockRef,
  method: string,
  first: unknown,
  how?: StateHow,
) => Promise<string>;

interface StateHow {
  /** Default: {@link MAX_ANSWER_BYTES}. */
  maxBytes?: number;
  order?: 'aside' | 'slow';
}

function createStateRequests(source: Pick<EvmSource, 'requestAt'>): RequestState {
  /** True once the node has accepted a block number after it rejected a block hash (EIP-1898). */
  let byNumber = false;

  const requestByNumber = async (
    block: BlockRef,
    method: string,
    first: unknown,
    how: StateHow,
  ): Promise<unknown> => {
    const number = toHex(block.number);
    const result = await source.requestAt(block, method, [first, number], how);
    // Checks the hash after the request, to detect a reorg before or during it.
    const there = await source.requestAt(block, 'eth_getBlockByNumber', [number, false]);
    if ((there as { hash?: unknown } | null)?.hash !== block.hash) {
      throw new SourceError('missing', `block ${block.number} is no longer ${block.hash}`);
    }
    return result;
  };

  return async (block, method, first, given) => {
    const how = { maxBytes: MAX_ANSWER_BYTES, ...given };
    let result: unknown;
    if (byNumber) {
      result = await requestByNumber(block, method, first, how);
    } else {
      try {
        const at = { blockHash: block.hash, requireCanonical: false };
        result = await source.requestAt(block, method, [first, at], how);
      } catch (error) {
        if (!refusesHash(error)) throw error;
        result = await requestByNumber(block, method, first, how);
        byNumber = true;
      }
    }
    if (typeof result === 'string' && /^0x[0-9a-fA-F]*$/.test(result)) return result.toLowerCase();
    throw new SourceError('inconsistent', `${method} did not return hex`);
  };
}

/** @param options as in {@link createPrunedStates} */
export function createStateReader(
  source: Pick<EvmSource, 'requestAt' | 'providers'>,
  options?: { goneAfterMs?: number },
): StateReader {
  const states = createPrunedStates(source, options);
  const requestAt = createStateRequests(states);
  /** Numbers of the blocks at which Multicall3 was last found and last missing. */
  let deployedAt = Number.POSITIVE_INFINITY;
  let missingAt = Number.NEGATIVE_INFINITY;
  const slowContracts = createSlowContracts();
  const failing = createFailingCalls();
  const batches = createBatchSize();
  /** The first calls to contracts that have not responded yet. */
  const firstCalls = new Map<string, Promise<StateAnswer>>();

  /** Returns whether a node responds to a call that needs no time. */
  const respondsToCalls = async (block: BlockRef): Promise<boolean> => {
    try {
      await requestAt(block, 'eth_call', { to: NOBODY, data: '0x' });
      return true;
    } catch (error) {
      return isOfKind(error, 'refused');
    }
  };

  /** Converts an error like {@link toAnswer}, but a call without a response may be no outage. */
  const explain = async (error: unknown, block: BlockRef): Promise<StateAnswer> =>
    isOfKind(error, 'unreachable') && (await respondsToCalls(block))
      ? UNANSWERED
      : toAnswer(error, block);

  const ask = async (
    block: BlockRef,
    method: string,
    first: unknown,
    resultBytes = MAX_RESULT_BYTES,
    order: 'aside' | 'slow' = 'aside',
  ): Promise<StateAnswer> => {
    const maxBytes = ENVELOPE_BYTES + 2 * resultBytes;
    try {
      return toResult(await requestAt(block, method, first, { maxBytes, order }), resultBytes);
    } catch (error) {
      return isOfKind(error, 'too-large') ? tooMuch(resultBytes) : explain(error, block);
    }
  };

  const hasMulticall = async (block: BlockRef): Promise<boolean> => {
    if (block.number >= deployedAt) return true;
    if (block.number <= missingAt + RECHECK_BLOCKS) return false;
    const code = await ask(block, 'eth_getCode', MULTICALL);
    if (code.outcome !== 'read') return false;
    if (code.value === '0x') missingAt = block.number;
    else deployedAt = block.number;
    return code.value !== '0x';
  };

  const callOnce = async (block: BlockRef, call: StateCall, order?: 'slow') => {
    const { to, data, from, maxBytes } = call;
    const request = { to, data, ...(from !== undefined && { from }) };
    const answer = await ask(block, 'eth_call', request, maxBytes, order);
    slowContracts.note(to, answer);
    return answer;
  };

  /** Makes a call. While a contract has not responded yet, only its first call is in flight. */
  const callAlone = async (block: BlockRef, call: StateCall): Promise<StateAnswer> => {
    const { to } = call;
    if (slowContracts.isGivenUp(to)) return GIVEN_UP;
    if (slowContracts.has(to)) return callOnce(block, call, 'slow');
    if (slowContracts.isQuick(to)) return callOnce(block, call);
    const first = firstCalls.get(to);
    if (first === undefined) {
      const own = callOnce(block, call).finally(() => firstCalls.delete(to));
      firstCalls.set(to, own);
      return own;
    }
    await first;
    return slowContracts.has(to) ? UNANSWERED : callOnce(block, call);
  };

  const callSingly = (block: BlockRef, calls: readonly StateCall[]): Promise<StateAnswer[]> =>
    mapLimited(calls, CONCURRENCY, (call) => callAlone(block, call));

  /** Makes calls of a batch that failed one by one, and keeps those that fail out of batches. */
  const callApart = async (
    block: BlockRef,
    calls: readonly StateCall[],
  ): Promise<StateAnswer[]> => {
    const answers = await callSingly(block, calls);
    for (const [n, { outcome }] of answers.entries()) {
      if (outcome === 'failed') failing.note(calls[n]!);
    }
    return answers;
  };

  /**
   * Repeats calls that failed without data, possibly because the first of them used up the gas of
   * the batch.
   */
  const callAgain = async (
    block: BlockRef,
    calls: readonly StateCall[],
  ): Promise<StateAnswer[]> => {
    if (calls.length <= FEW_CALLS) return callApart(block, calls);
    const first = await callApart(block, calls.slice(0, 1));
    return [...first, ...(await callTogether(block, calls.slice(1)))];
  };

  const callTogether = async (
    block: BlockRef,
    calls: readonly StateCall[],
  ): Promise<StateAnswer[]> => {
    const request = { to: MULTICALL, data: encodeAggregate(calls) };
    let results: readonly Aggregated[] | undefined;
    try {
      results = decodeAggregate(await requestAt(block, 'eth_call', request), calls.length);
    } catch (error) {
      const answer = await explain(error, block);
      // If the state is missing for the batch, it is also missing for each call.
      if ((error as SourceError).kind === 'missing') return calls.map(() => answer);
    }
    if (results === undefined && calls.length > UNDIVIDED_CALLS) {
      const half = Math.ceil(calls.length / 2);
      const answers = [
        ...(await callTogether(block, calls.slice(0, half))),
        ...(await callTogether(block, calls.slice(half))),
      ];
      // If no call is to blame, the batch itself was too large.
      if (answers.every(({ outcome }) => outcome === 'read')) batches.limit(half);
      return answers;
    }
    if (results === undefined) {
      // The batch failed, for example because it needs too much gas, or the chain has no
      // Multicall3.
      deployedAt = Number.POSITIVE_INFINITY;
      return callApart(block, calls);
    }
    // A call that ran out of gas because of earlier calls fails without data. Repeating the call
    // alone distinguishes this case from other failures without data.
    const isSilent = ({ success, returnData }: Aggregated) => !success && returnData === '0x';
    const again = await callAgain(
      block,
      calls.filter((_, n) => isSilent(results[n]!)),
    );
    return results.map((result, n): StateAnswer => {
      if (isSilent(result)) return again.shift()!;
      return result.success
        ? toResult(result.returnData, calls[n]!.maxBytes)
        : { outcome: 'failed', message: describeRevert(result.returnData) };
    });
  };

  const call = async (block: BlockRef, calls: readonly StateCall[]): Promise<StateAnswer[]> => {
    const answers = new Map<StateCall, StateAnswer>();
    const save = (some: readonly StateCall[], theirs: readonly StateAnswer[]): void => {
      for (const [n, each] of some.entries()) answers.set(each, theirs[n]!);
    };
    // Multicall3 is the sender of batched calls, so calls with their own sender are made alone. A
    // slow contract would delay the other calls of a batch, and a failing call may use up their gas.
    const isAlone = (each: StateCall): boolean =>
      each.from !== undefined || slowContracts.has(each.to) || failing.has(each);
    const { alone = [], rest = [] } = Object.groupBy(calls, (each) =>
      isAlone(each) ? 'alone' : 'rest',
    );
    if (rest.length > 1 && (await hasMulticall(block))) {
      const slices = toSlices(rest, batches.size());
      const sliced = await mapLimited(slices, CONCURRENCY, (slice) => callTogether(block, slice));
      for (const [n, slice] of slices.entries()) save(slice, sliced[n]!);
    } else {
      save(rest, await callSingly(block, rest));
    }
    save(alone, await callSingly(block, alone));
    return calls.map((each) => answers.get(each)!);
  };

  const read = async (
    block: BlockRef,
    requests: readonly StateRequest[],
  ): Promise<StateAnswer[]> => {
    const { calls = [], accounts = [] } = Object.groupBy(requests, (each) =>
      'account' in each ? 'accounts' : 'calls',
    ) as { calls?: StateCall[]; accounts?: { account: string }[] };
    const isBatched = accounts.length > 0 && requests.length > 1 && (await hasMulticall(block));
    const called = await call(
      block,
      isBatched ? [...calls, ...accounts.map(({ account }) => toBalanceCall(account))] : calls,
    );
    const balances = isBatched
      ? called.splice(calls.length)
      : await mapLimited(accounts, CONCURRENCY, ({ account }) =>
          ask(block, 'eth_getBalance', account),
        );
    return requests.map((each) =>
      'account' in each ? toDecimal(balances.shift()!) : called.shift()!,
    );
  };

  return {
    call,
    read,
    failures: createFailureReader(states),
    isGone: states.isGone,
    balances: (block, addresses) =>
      read(
        block,
        addresses.map((account) => ({ account })),
      ),
  };
}

const toBalanceCall = (account: string): StateCall => ({
  to: MULTICALL,
  data: `${GET_BALANCE}${account.slice(2).padStart(64, '0')}`,
});

const toDecimal = (answer: StateAnswer): StateAnswer =>
  answer.outcome === 'read' ? { ...answer, value: BigInt(answer.value).toString() } : answer;

/** Remembers calls that failed alone after their batch, so that they are made alone for a while. */
function createFailingCalls() {
  /** Times until which calls are made alone, oldest first. */
  const until = new Map<string, number>();
  const keyOf = ({ to, data }: StateCall): string => to + data;
  return {
    note(call: StateCall): void {
      until.delete(keyOf(call));
      until.set(keyOf(call), performance.now() + SLOW_FOR_MS);
      if (until.size > MAX_REMEMBERED) until.delete(until.keys().next().value!);
    },
    has: (call: StateCall): boolean => (until.get(keyOf(call)) ?? 0) > performance.now(),
  };
}

/** Remembers for a while how many calls a batch may have, if a larger one failed. */
function createBatchSize() {
  let most = CALLS_PER_REQUEST;
  let until = 0;
  const size = (): number => (performance.now() < until ? most : CALLS_PER_REQUEST);
  return {
    size,
    limit(calls: number): void {
      most = Math.min(size(), calls);
      until = performance.now() + SLOW_FOR_MS;
    },
  };
}

/**
 * Remembers which contracts respond, and whose calls timed out, so that calls to a slow contract do
 * not delay those to others.
 */
function createSlowContracts() {
  const quick = new Set<string>();
  /** Times until which contracts are slow, and the numbers of their timeouts in a row. */
  const slow = new Map<string, { until: number; timeouts: number }>();
  const find = (contract: string) => {
    const found = slow.get(contract);
    return found !== undefined && found.until > performance.now() ? found : undefined;
  };
  return {
    note(contract: string, answer: StateAnswer): void {
      if (isTimeout(answer)) {
        const { timeouts = 0 } = find(contract) ?? {};
        quick.delete(contract);
        slow.set(contract, { until: performance.now() + SLOW_FOR_MS, timeouts: timeouts + 1 });
      } else {
        quick.add(contract);
        slow.delete(contract);
      }
      for (const each of [quick, slow]) {
        if (each.size > MAX_REMEMBERED) each.delete(each.keys().next().value!);
      }
    },
    has: (contract: string): boolean => find(contract) !== undefined,
    isGivenUp: (contract: string): boolean => (find(contract)?.timeouts ?? 0) >= MAX_TIMEOUTS,
    isQuick: (contract: string): boolean => quick.has(contract),
  };
}

const NO_RESPONSE = 'the nodes did not respond to this call in time';
const UNANSWERED: StateAnswer = { outcome: 'refused', message: NO_RESPONSE };
const GIVEN_UP: StateAnswer = { outcome: 'failed', message: NO_RESPONSE };

/** Returns whether the call got no response, or the node ended it because it took too long. */
const isTimeout = (answer: StateAnswer): boolean =>
  answer === UNANSWERED || (answer.outcome === 'failed' && /time(d )?-?out/i.test(answer.message));

function toSlices(calls: readonly StateCall[], most: number): StateCall[][] {
  const slices: StateCall[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const call of calls) {
    characters += call.data.length;
    if (characters > CALL_CHARACTERS_PER_REQUEST || slices.at(-1)!.length === most) {
      slices.push([]);
      characters = call.data.length;
    }
    slices.at(-1)!.push(call);
  }
  return slices;
}

type Hex = `0x${string}`;
interface Aggregated {
  success: boolean;
  returnData: string;
}

const encodeAggregate = (calls: readonly StateCall[]): string =>
  AGGREGATE +
  encodeAbiParameters(AGGREGATE_INPUT, [
    calls.map(({ to, data }) => ({
      target: to as Hex,
      allowFailure: true,
      callData: data as Hex,
    })),
  ]).slice(2);

/** Decodes the results of a batch; undefined unless there is exactly one result per call. */
function decodeAggregate(data: string, count: number): readonly Aggregated[] | undefined {
  try {
    const [results] = aggregated.decode(data) as unknown as [readonly Aggregated[]];
    return results.length === count ? results : undefined;
  } catch {
    return undefined;
  }
}

const tooMuch = (maxBytes: number): StateAnswer => ({
  outcome: 'failed',
  message: `more than ${maxBytes} bytes were returned`,
});

/**
 * Converts the result of a call to an answer. An oversized result counts as a failure, because
 * results stay in memory until the batch is complete.
 */
const toResult = (value: string, maxBytes = MAX_RESULT_BYTES): StateAnswer =>
  value.length > 2 + 2 * maxBytes ? tooMuch(maxBytes) : { outcome: 'read', value };

/**
 * Converts an error to `failed` if the contract caused it, or to `refused` if the node did. Throws
 * a `RetryableError` if no node could be queried.
 */
function toAnswer(error: unknown, block: BlockRef): StateAnswer {
  if (!(error instanceof SourceError)) throw error;
  switch (error.kind) {
    case 'refused':
      return isReverted(error)
        ? { outcome: 'failed', message: describeFailure(error) }
        : { outcome: 'refused', message: nodeMessage(error) };
    case 'missing':
    case 'pruned':
      return { outcome: 'refused', message: `no node has the state of block ${block.number}` };
    case 'too-large':
    case 'unsupported':
    case 'inconsistent':
      return { outcome: 'refused', message: nodeMessage(error) };
    case 'unreachable':
    case 'rate-limited':
    case 'disagreement':
    case 'settling':
    case 'wrong-chain':
      throw new RetryableError('unavailable', error.message, { cause: error });
  }
}

const refusesHash = (error: unknown): boolean =>
  error instanceof SourceError &&
  !isReverted(error) &&
  (error.rpcCode === -32602 ||
    /invalid (argument|param|block)|cannot unmarshal|expected (a )?string|unknown variant/i.test(
      error.message,
    ));

/**
 * Describes the revert data of an error, which some nodes embed in text. If there is none, returns
 * the node's message.
 */
function describeFailure(error: SourceError): string {
  const data = typeof error.data === 'string' ? /0x[0-9a-f]*/i.exec(error.data)?.[0] : undefined;
  return data !== undefined && data !== '0x'
    ? describeRevert(data.toLowerCase())
    : nodeMessage(error);
}

const MESSAGE_CHARACTERS = 200;

/** Formats revert data, so that single and batched calls have the same message. */
function describeRevert(data: string): string {
  const revert = readRevert(data);
  if (revert?.kind === 'error') return `execution reverted: ${cut(revert.text)}`;
  if (revert?.kind === 'panic') return `execution reverted: panic ${toHex(revert.code)}`;
  return `execution reverted: ${cut(data)}`;
}

/** Returns the node's message without the node's name, which must not be disclosed to receivers. */
function nodeMessage({ message, kind }: SourceError): string {
  const failed = ' failed: ';
  const start = message.indexOf(failed);
  const end = message.lastIndexOf(' (');
  return start < 0 || end < start
    ? `no node returned a usable result: ${kind}`
    : cut(message.slice(start + failed.length, end));
}

function cut(text: string): string {
  const start = cutText(text, MESSAGE_CHARACTERS);
  return start === text ? text : `${start}…`;
}
