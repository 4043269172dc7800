/** Explains the values of a stream in the state of a block, from what is known about them. */
import type { ExplainReason, ExplainedValue, ReadCondition } from '@sluice/kit/contract';
import { passed, stopped } from '../../../../match/reasons.ts';
import type { KnownRead, ValueRun } from '../../../../store/values/contract.ts';
import type { ReadValue } from './compileReads.ts';
import { isDue, isMet } from './condition.ts';
import { type Known, describeCondition, describeResult } from './describeResult.ts';

/** Facts about a value in the state of a block. */
export interface ValueFacts {
  chain: string;
  block: { number: number; timestamp: number };
  /** The newest runs before the block; undefined if there are none. */
  known: KnownRead | undefined;
  /** The result of reading it in the block; undefined if the block added none. */
  begun: Pick<ValueRun, 'value' | 'error'> | undefined;
  decimals: number | null;
  /** Why a value before the block may be missing; undefined if it can only be the first one. */
  noBefore: string | undefined;
  /** Explains why the state was not read. */
  unread: ExplainReason;
}

/** Returns a reason that is neither passed nor stopped. */
export const valueReason = (outcome: 'waiting' | 'unknown', message: string): ExplainReason => ({
  stage: 'value',
  outcome,
  message,
});

/** Returns whether the value is sent regardless of the value before it. */
export const isEvery = (when: ReadCondition): when is Extract<ReadCondition, { every: number }> =>
  when !== 'changes' && 'every' in when;

/** The value in a block, and the one that it is compared with. */
interface Compared {
  /** The value in the block as JSON; undefined if it is not known, or an error. */
  after: string | undefined;
  before: Known | undefined;
  isMet: boolean;
}

export function explainValue(read: ReadValue, facts: ValueFacts): ExplainedValue {
  const { chain, block, known, begun, decimals, noBefore } = facts;
  const { newest, last } = known ?? {};
  const before: Known | undefined =
    last?.value == null
      ? undefined
      : { block: Math.min(last.to, block.number - 1), value: last.value };
  const isContinued = newest !== undefined && newest.to >= block.number;
  const result = begun ?? (isContinued ? newest : undefined);
  const after = result?.value ?? undefined;
  const isUncertain = before === undefined && noBefore !== undefined && !isEvery(read.when);
  const included =
    begun !== undefined &&
    after !== undefined &&
    !isUncertain &&
    isMet(read.when, before?.value, after, decimals ?? 0);
  return {
    chainId: chain,
    name: nameOf(read),
    block: block.number,
    before: before === undefined ? null : toResult(before),
    after: after === undefined ? null : toResult({ block: block.number, value: after }),
    decimals,
    included,
    reason:
      result === undefined
        ? whyNotRead(read, facts)
        : result.error !== null
          ? stopped('value', `no value: ${result.error}`)
          : isUncertain
            ? valueReason('unknown', noBefore)
            : toReason(read.when, { after, before, isMet: included }, decimals),
  };
}

const toResult = ({ block, value }: Known): ExplainedValue['before'] => ({
  block,
  value: JSON.parse(value) as unknown,
});

function toReason(
  when: ReadCondition,
  { after, before, isMet: met }: Compared,
  decimals: number | null,
): ExplainReason {
  const message = describeResult(when, { isMet: met, before, after: after!, decimals });
  return met ? passed('value', message) : stopped('value', message);
}

function whyNotRead({ when }: ReadValue, { block, known, unread }: ValueFacts): ExplainReason {
  const { newest, last } = known ?? {};
  const isWaiting =
    last !== undefined && !isDue(when, { number: last.to, timestamp: last.timestamp }, block);
  if (isWaiting) {
    return stopped('value', `not due: read ${describeCondition(when)}, last in block ${last.to}`);
  }
  return newest?.error == null
    ? unread
    : stopped('value', `not read: the read in block ${newest.to} failed: ${newest.error}`);
}

/** Names a value and its condition: `totalSupply() of 0x…, below 1,000`. */
function nameOf({ about, when }: ReadValue): string {
  const { contract, function: named, output, balance, of } = about;
  const value =
    balance === undefined
      ? `${output === undefined ? '' : `${output} of `}${named} of ${contract}`
      : `${balance === 'native' ? 'native balance' : `balance in ${balance}`} of ${of}`;
  return `${value}, ${describeCondition(when)}`;
}
