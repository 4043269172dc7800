/**
 * Completes a body from the chain: token metadata, then triggers, which may use it, and balances.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StreamTrigger, WebhookTrigger } from '@sluice/kit/contract';
import type { BlockRef } from '../../store/blocks/contract.ts';
import { addressesOf, mostBalanceBytes } from './balances.ts';
import { contractsOf, fillTokens } from './fillTokens.ts';
import type { CompiledPlan } from './plan.ts';
import { type BodyTail, recordsOf } from './records.ts';
import { MAX_RESULT_BYTES, type StateAnswer, type StateCall, type StateReader } from '../state.ts';
import type { Tokens } from '../tokens.ts';
import { type CompiledTrigger, createDecoder, errorEntry } from './triggers.ts';

/**
 * Maximum distinct calls and balance reads for one match; triggers above the limit get error
 * entries.
 */
const MAX_CALLS = 10_000;
/** Maximum total size of the call data, in hex digits. */
const MAX_CALL_CHARACTERS = 32 * 1024 * 1024;
const TOO_MANY = errorEntry(
  `not called: the triggers of this block exceed ${MAX_CALLS} calls or 16 MiB of call data`,
);
const TOO_LARGE = errorEntry('left out: the webhook would exceed --max-webhook-bytes');
/** Minimum space for the entries of a trigger, enough for all possible error entries. */
const MIN_ENTRY_BYTES = 160;
/** Size of `,"triggers":[]` in a record. */
const RECORD_BYTES = 14;
/**
 * Time between yields. Records, calls and results may all be large, so yielding does not depend on
 * their number.
 */
const TURN_MS = 10;
/** Size of results to process at once, because many webhooks are completed concurrently. */
const ANSWER_BYTES_AT_ONCE = 2 * 1024 * 1024;

export interface Completion {
  plan: CompiledPlan;
  block: BlockRef;
  tokens: Tokens;
  state: Omit<StateReader, 'isGone'>;
  /** Maximum size of the tail; trigger results that exceed it are omitted. */
  maxBytes: number;
  /** Whether refused data is left in the contract's form for unknown values. */
  isLastTry: boolean;
}

/**
 * Completes `tail` in place. Returns undefined, or the reason for a failure, after which the tail
 * must be discarded.
 * @throws RetryableError when no node could be queried
 */
export async function completeBody(
  tail: BodyTail,
  { plan, block, tokens, state, isLastTry, maxBytes }: Completion,
): Promise<string | undefined> {
  const contracts = contractsOf(tail);
  const known = await tokens.read(block, contracts);
  if (known.size < contracts.size && !isLastTry) {
    return `the metadata of ${contracts.size - known.size} tokens was refused`;
  }
  tokens.giveUp(
    block,
    [...contracts].filter((contract) => !known.has(contract)),
  );
  fillTokens(tail, (contract) => known.get(contract));

  const triggers = await runTriggers(tail, plan.triggers, {
    ask: (calls) => state.call(block, calls),
    room: () =>
      maxBytes - Buffer.byteLength(JSON.stringify(tail)) - mostBalanceBytes(plan.balances, tail),
  });
  if (triggers.refused !== undefined && !isLastTry) return triggers.refused;

  const addresses = addressesOf(plan.balances, tail).slice(0, MAX_CALLS);
  const balances = addresses.length === 0 ? [] : await state.balances(block, addresses);
  const refused = balances.find((answer) => answer.outcome !== 'read');
  if (refused !== undefined && !isLastTry) return refused.message;
  tail.nativeBalances = balances.flatMap((answer, n) =>
    answer.outcome === 'read' ? { address: addresses[n]!, balance: answer.value } : [],
  );
  return undefined;
}

/** The reserved size of the trigger entries; longer results share the remaining space. */
export const mostTriggerBytes = (
  triggers: readonly Pick<StreamTrigger, 'type'>[],
  tail: BodyTail,
): number =>
  [...Map.groupBy(triggers, ({ type }) => type)].reduce(
    (sum, [kind, { length }]) =>
      sum + recordsOf(tail, kind).length * (RECORD_BYTES + length * MIN_ENTRY_BYTES),
    0,
  );

const bytesOf = (entries: readonly WebhookTrigger[]): number =>
  Buffer.byteLength(JSON.stringify(entries));

/** A trigger on a record, with its entries or the call that provides them. */
interface Slot {
  trigger: CompiledTrigger;
  entries: WebhookTrigger[];
  call: string | undefined;
}

function toBatches<Key>(calls: ReadonlyMap<Key, StateCall>): [Key, StateCall][][] {
  const batches: [Key, StateCall][][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const each of calls) {
    const { maxBytes = MAX_RESULT_BYTES } = each[1];
    bytes += maxBytes;
    if (bytes > ANSWER_BYTES_AT_ONCE) {
      batches.push([]);
      bytes = maxBytes;
    }
    batches.at(-1)!.push(each);
  }
  return batches;
}

async function runTriggers(
  tail: BodyTail,
  triggers: readonly CompiledTrigger[],
  {
    ask,
    room,
  }: {
    ask(calls: readonly StateCall[]): Promise<StateAnswer[]>;
    /** Bytes that the body may still grow by. */
    room(): number;
  },
): Promise<{ refused: string | undefined }> {
  if (triggers.length === 0) return { refused: undefined };
  /** Space in addition to the reserved space of all entries. */
  let spareBytes =
    room() -
    mostTriggerBytes(
      triggers.map(({ kind: type }) => ({ type })),
      tail,
    );
  const fit = (entries: WebhookTrigger[], bytes: number): WebhookTrigger[] => {
    const extra = Math.max(0, bytes - MIN_ENTRY_BYTES);
    if (extra > 0 && extra > spareBytes) return [TOO_LARGE];
    spareBytes -= extra;
    return entries;
  };
  const calls = new Map<string, StateCall>();
  let callCharacters = 0;
  const slotOf = (trigger: CompiledTrigger, call: StateCall | { error: string }): Slot => {
    if ('error' in call) {
      const entries = [errorEntry(call.error)];
      return { trigger, entries: fit(entries, bytesOf(entries)), call: undefined };
    }
    const key = `${call.to} ${call.from} ${call.data}`;
    if (!calls.has(key)) {
      callCharacters += call.data.length;
      if (calls.size >= MAX_CALLS || callCharacters > MAX_CALL_CHARACTERS) {
        return { trigger, entries: [TOO_MANY], call: undefined };
      }
      calls.set(key, call);
    }
    return { trigger, entries: [], call: key };
  };

  let turnEndsAt = performance.now() + TURN_MS;
  const endTurn = async (): Promise<void> => {
    await nextTurn();
    turnEndsAt = performance.now() + TURN_MS;
  };
  const waiting = new Map<string, Slot[]>();
  const slotsOfRecords = new Map<{ triggers?: WebhookTrigger[] }, Slot[]>();
  for (const kind of new Set(triggers.map((trigger) => trigger.kind))) {
    const own = triggers.filter((trigger) => trigger.kind === kind);
    for (const record of recordsOf(tail, kind)) {
      const slots: Slot[] = [];
      const decode = createDecoder(record);
      for (const trigger of own) {
        if (performance.now() > turnEndsAt) await endTurn();
        const call = trigger.prepare(record, decode);
        if (call !== undefined) slots.push(slotOf(trigger, call));
      }
      slotsOfRecords.set(record, slots);
      for (const slot of slots) {
        if (slot.call === undefined) continue;
        const others = waiting.get(slot.call);
        if (others === undefined) waiting.set(slot.call, [slot]);
        else others.push(slot);
      }
    }
  }

  let refused: string | undefined;
  for (const some of toBatches(calls)) {
    const answers = await ask(some.map(([, call]) => call));
    for (const [n, [key]] of some.entries()) {
      const answer = answers[n]!;
      if (answer.outcome === 'refused') refused ??= answer.message;
      /** Calls by trigger, because many records may share a call. */
      const reads = new Map<CompiledTrigger, { entries: WebhookTrigger[]; bytes: number }>();
      for (const slot of waiting.get(key)!) {
        let read = reads.get(slot.trigger);
        if (read === undefined) {
          if (performance.now() > turnEndsAt) await endTurn();
          const entries = slot.trigger.read(answer);
          read = { entries, bytes: bytesOf(entries) };
          reads.set(slot.trigger, read);
        }
        slot.entries = fit(read.entries, read.bytes);
      }
    }
  }
  for (const [record, slots] of slotsOfRecords) {
    record.triggers = slots.flatMap(({ entries }) => entries);
  }
  return { refused };
}
