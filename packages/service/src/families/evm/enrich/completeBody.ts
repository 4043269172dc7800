/**
 * Completes a body with data from the chain, and with labels from the ledger. Token metadata is read
 * first, because triggers may use it as input; reasons of failed calls, triggers and native balances
 * follow.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StreamTrigger, WebhookTrigger } from '@sluice/kit/contract';
import type { BlockRef } from '../../../store/blocks/contract.ts';
import { addressesOf, maxBalanceBytes } from './balances.ts';
import { contractsOf, fillTokens } from './fillTokens.ts';
import type { CompiledPlan } from './plan.ts';
import { addReasons } from './reasons.ts';
import { type AnyRecord, type BodyTail, recordsOf } from './records.ts';
import { MAX_RESULT_BYTES, type StateAnswer, type StateCall, type EnrichState } from './state.ts';
import type { Tokens } from '../../../enrich/tokens.ts';
import { type CompiledTrigger, createDecoder, errorEntry } from './triggers.ts';

/**
 * Maximum number of distinct calls, and of balance reads, for one match. Triggers above this limit
 * get error entries; balances above it are omitted.
 */
const MAX_CALLS = 10_000;
/** Maximum total size of a match's call data, in hex characters. */
const MAX_CALL_CHARACTERS = 32 * 1024 * 1024;
const TOO_MANY = errorEntry(
  `not called: the triggers of this block exceed ${MAX_CALLS} calls or 16 MiB of call data`,
);
const TOO_LARGE = errorEntry('left out: the webhook would exceed its maximum size');
/** Bytes reserved for the entries of one trigger in one record; enough for either error above. */
const MIN_ENTRY_BYTES = 160;
/** Size of `,"triggers":[]` in a record. */
const RECORD_BYTES = 14;
/**
 * Time after which the completion yields to the event loop. Single records, calls and results may
 * be large, so limiting their number would not limit the time.
 */
const TURN_MS = 10;
/**
 * Maximum total size of the results of one batch of calls; low, because many matches are completed
 * concurrently.
 */
const ANSWER_BYTES_AT_ONCE = 2 * 1024 * 1024;

export interface Completion {
  plan: CompiledPlan;
  block: BlockRef;
  tokens: Tokens;
  state: Omit<EnrichState, 'isGone'>;
  /** Adds the labels of addresses in place. */
  addLabels(tail: BodyTail): Promise<void>;
  /**
   * Maximum size of the tail. Trigger results that would exceed it are replaced by an error entry.
   */
  maxBytes: number;
  /**
   * If true, the body is completed without the data that the nodes refuse; otherwise, a refusal
   * fails the completion.
   */
  isLastTry: boolean;
  /** Called with the number of balances that the body omits because it has too many. */
  onOmitted(balances: number): void;
}

/**
 * Completes `tail` in place. Returns undefined on success. Otherwise, returns the reason, and the
 * tail must be discarded.
 * @throws RetryableError if no node could be queried, or the ledger is unavailable
 */
export async function completeBody(
  tail: BodyTail,
  { plan, block, tokens, state, addLabels, isLastTry, maxBytes, onOmitted }: Completion,
): Promise<string | undefined> {
  await addLabels(tail);
  const contracts = contractsOf(tail);
  const known = await tokens.read(block, contracts);
  if (known.size < contracts.size && !isLastTry) {
    return `the nodes refused the metadata of ${contracts.size - known.size} of ${contracts.size} tokens`;
  }
  tokens.giveUp(
    block,
    [...contracts].filter((contract) => !known.has(contract)),
  );
  fillTokens(tail, (contract) => known.get(contract));

  const untraced = await addReasons(tail, plan.errors, (hashes) => state.failures(block, hashes));
  if (untraced !== undefined && !isLastTry) return untraced;

  const triggers = await runTriggers(tail, plan.triggers, {
    ask: (calls) => state.call(block, calls),
    room: () =>
      maxBytes - Buffer.byteLength(JSON.stringify(tail)) - maxBalanceBytes(plan.balances, tail),
  });
  if (triggers.refused !== undefined && !isLastTry) return triggers.refused;

  const selected = addressesOf(plan.balances, tail);
  const addresses = selected.slice(0, MAX_CALLS);
  const balances = addresses.length === 0 ? [] : await state.balances(block, addresses);
  const refused = balances.find((answer) => answer.outcome !== 'read');
  if (refused !== undefined && !isLastTry) return refused.message;
  tail.nativeBalances = balances.flatMap((answer, n) =>
    answer.outcome === 'read' ? { address: addresses[n]!, balance: answer.value } : [],
  );
  if (selected.length > addresses.length) onOmitted(selected.length - addresses.length);
  return undefined;
}

/**
 * Returns the number of bytes reserved for trigger entries. Longer results share the remaining
 * space.
 */
export const maxTriggerBytes = (
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

/** A trigger applied to one record, with its entries or the call that provides them. */
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
    /** Returns the number of bytes by which the body may still grow. */
    room(): number;
  },
): Promise<{ refused: string | undefined }> {
  if (triggers.length === 0) return { refused: undefined };
  /**
   * Remaining bytes beyond the reserved space, shared by entries that need more than is reserved.
   */
  let spareBytes =
    room() -
    maxTriggerBytes(
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
  const slotsOfRecords = new Map<AnyRecord, Slot[]>();
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
      /** Decoded results by trigger, because many records may share a call. */
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
    const { triggered_by: triggeredBy } = record;
    const isLast = Object.keys(record).at(-1) === 'triggered_by';
    // The wire order of logs and transactions has `triggers` before it.
    if (isLast) delete record.triggered_by;
    record.triggers = slots.flatMap(({ entries }) => entries);
    if (isLast) record.triggered_by = triggeredBy;
  }
  return { refused };
}
