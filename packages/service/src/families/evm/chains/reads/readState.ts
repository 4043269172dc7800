/** Reads the values of streams in the state of a block, and decides which of them are sent. */
import type { WebhookRead } from '@sluice/kit/contract';
import type { ReadState } from '../../../../ingest/values/reading.ts';
import type { BlockRef } from '../../../../store/blocks/contract.ts';
import type { EvmStreamRecord } from '../../../../store/streams/contract.ts';
import type {
  KnownRead,
  PendingState,
  ReadRef,
  ReadResult,
} from '../../../../store/values/contract.ts';
import type { StateAnswer, StateReader, StateRequest } from '../../enrich/state.ts';
import type { ReadValue } from './compileReads.ts';
import { isDue, isMet, thresholdOf } from './condition.ts';
import type { StreamValues } from './streamValues.ts';

/** Maximum number of blocks between two reads of a value whose reads fail. */
const MAX_PAUSE_BLOCKS = 16;

interface DueRead {
  streamId: string;
  read: ReadValue;
  known: KnownRead | undefined;
}

export function createReadState({
  state,
  values,
}: {
  state: Pick<StateReader, 'read' | 'isGone'>;
  values: StreamValues;
}): ReadState<EvmStreamRecord, WebhookRead> {
  return async ({ streams, pending, known }, isLastTry) => {
    const { block, after } = pending;
    const due: DueRead[] = [];
    const forgotten: ReadRef[] = [];
    const problems = new Map<string, string>();
    for (const record of streams) {
      const { id: streamId } = record;
      const { reads: wanted, problem } = await values.list(record, block.number);
      if (problem !== undefined) problems.set(streamId, problem);
      for (const [key, read] of wanted) {
        const its = known.find(streamId, key);
        if (isReadNow(read, its, pending)) due.push({ streamId, read, known: its });
      }
      for (const key of known.keysOf(streamId)) {
        if (!wanted.has(key)) forgotten.push({ streamId, key });
      }
    }

    const answers = await readOnce(state, block, due);
    const isRefused = answers.some(({ outcome }) => outcome === 'refused');
    if (isRefused && !isLastTry && !state.isGone(block)) return undefined;

    const results: ReadResult[] = [];
    const lacking = new Set<string>();
    const sent = new Map<string, WebhookRead[]>();
    for (const [n, { streamId, read, known: its }] of due.entries()) {
      const answer = answers[n]!;
      if (answer.outcome === 'refused') {
        lacking.add(streamId);
        continue;
      }
      const decimals = await values.decimalsOf(block, read);
      const result = toResult(read, answer, decimals);
      results.push({
        streamId,
        key: read.key,
        ...result,
        continues: continuedRun(read, its, result, after),
      });
      if (result.value === null) continue;
      const { last } = its ?? {};
      if (!isMet(read.when, last?.value ?? undefined, result.value, decimals ?? 0)) continue;
      const list = sent.get(streamId) ?? [];
      sent.set(streamId, list);
      list.push({
        ...read.about,
        decimals,
        before: last === undefined ? null : toWebhookValue(last.to, last.value!),
        after: toWebhookValue(block.number, result.value),
      });
    }
    return { results, forgotten, lacking: [...lacking], sent, problems };
  };
}

const toWebhookValue = (block: number, json: string): WebhookRead['after'] => ({
  block: String(block),
  value: JSON.parse(json) as unknown,
});

/** Returns whether the value is due. If reads of it fail, the time between them grows. */
function isReadNow(
  { when }: ReadValue,
  known: KnownRead | undefined,
  { block }: PendingState,
): boolean {
  const { newest, last } = known ?? {};
  if (newest?.error != null) {
    const pause = Math.min(MAX_PAUSE_BLOCKS, Math.ceil((newest.to - newest.from) / 2));
    if (block.number - newest.to < pause) return false;
  }
  return isDue(when, last && { number: last.to, timestamp: last.timestamp }, block);
}

/** Makes each request once, even if several values need it. */
async function readOnce(
  state: Pick<StateReader, 'read'>,
  block: BlockRef,
  due: readonly DueRead[],
): Promise<StateAnswer[]> {
  const requests = new Map<string, StateRequest>();
  const keyOf = (source: StateRequest): string =>
    'account' in source ? source.account : source.to + source.data;
  for (const { read } of due) requests.set(keyOf(read.source), read.source);
  if (requests.size === 0) return [];
  const answers = await state.read(block, [...requests.values()]);
  const byKey = new Map([...requests.keys()].map((key, n) => [key, answers[n]!]));
  return due.map(({ read }) => byKey.get(keyOf(read.source))!);
}

function toResult(
  read: ReadValue,
  answer: Exclude<StateAnswer, { outcome: 'refused' }>,
  decimals: number | null,
): Pick<ReadResult, 'value' | 'error'> {
  const failed = (error: string) => ({ value: null, error });
  if (answer.outcome === 'failed') return failed(answer.message);
  if (answer.value === '0x') return failed('the address has no such function');
  const value = read.toValue(answer.value);
  if (value === undefined) return failed('the result does not have the declared outputs');
  return thresholdOf(read.when) !== undefined && decimals === null
    ? failed('the token has no decimals: set decimals')
    : { value, error: null };
}

/** Returns the first block of the known run that this result continues; undefined if it begins one. */
function continuedRun(
  { when }: ReadValue,
  known: KnownRead | undefined,
  { value, error }: Pick<ReadResult, 'value' | 'error'>,
  after: number,
): number | undefined {
  if (known === undefined) return undefined;
  const { newest } = known;
  // A value whose reads fail is not read in every block.
  if (error !== null) return newest.error === error ? newest.from : undefined;
  const isEvery = when !== 'changes' && 'every' in when;
  return !isEvery && newest.value === value && newest.to === after ? newest.from : undefined;
}
