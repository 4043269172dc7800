/** Reads the values of streams in the state of a block, and decides which of them are sent. */
import type { WebhookRead } from '@sluice/kit/contract';
import type { ReadState } from '../../../../ingest/values/reading.ts';
import type { Token } from '../../../../store/enrichment/contract.ts';
import type { BlockRef } from '../../../../store/blocks/contract.ts';
import type { EvmStreamRecord } from '../../../../store/streams/contract.ts';
import type { KnownRead, PendingState, ReadResult } from '../../../../store/values/contract.ts';
import type { StateAnswer, StateReader, StateRequest } from '../../enrich/state.ts';
import { FilterError } from '../../match/filter.ts';
import {
  type CompiledReads,
  type ReadValue,
  MAX_READ_VALUES,
  compileReads,
} from './compileReads.ts';
import { isDue, isMet, thresholdOf } from './condition.ts';

/** Maximum number of blocks between two reads of a value whose reads fail. */
const MAX_PAUSE_BLOCKS = 16;

interface DueRead {
  streamId: string;
  read: ReadValue;
  known: KnownRead | undefined;
}

/** Reads of streams, compiled once for each version of their options. */
const compiled = new WeakMap<EvmStreamRecord['options'], CompiledReads>();

function readsOf({ options }: EvmStreamRecord): CompiledReads {
  let own = compiled.get(options);
  if (own === undefined) {
    own = compileStored(options);
    compiled.set(options, own);
  }
  return own;
}

/**
 * Compiles the reads of a stream, which are validated on save. If they fail to compile, the stream
 * reads nothing, and other streams are not affected.
 */
function compileStored(options: EvmStreamRecord['options']): CompiledReads {
  try {
    return compileReads(options);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    return { fixed: [], ofAddress: [] };
  }
}

export function createReadState({
  state,
  readToken,
  addressesOf,
}: {
  state: Pick<StateReader, 'read' | 'isGone'>;
  /** Reads the metadata of a token; undefined if the nodes refused to provide it. */
  readToken(block: BlockRef, address: string): Promise<Token | undefined>;
  /** Returns the addresses of a stream in lowercase; `many` if there are more than `most`. */
  addressesOf(streamId: string, most: number): Promise<readonly string[] | 'many'>;
}): ReadState<EvmStreamRecord, WebhookRead> {
  /** Returns the values of a stream, each once. */
  const listValues = async (record: EvmStreamRecord): Promise<Map<string, ReadValue>> => {
    const { fixed, ofAddress } = readsOf(record);
    const addresses = ofAddress.length === 0 ? [] : await addressesOf(record.id, MAX_READ_VALUES);
    const balances =
      addresses === 'many' ? [] : ofAddress.flatMap((of) => addresses.map((each) => of(each)));
    return new Map([...fixed, ...balances].map((read) => [read.key, read]));
  };

  /** Returns the decimals of a value, or why its threshold has no unit. */
  const decimalsOf = async (block: BlockRef, read: ReadValue): Promise<number | null> =>
    read.token === undefined
      ? read.decimals
      : ((await readToken(block, read.token))?.decimals ?? null);

  return async ({ streams, pending, known }, isLastTry) => {
    const { block, after } = pending;
    const byKey = new Map(known.map((each) => [`${each.streamId} ${each.key}`, each]));
    const due: DueRead[] = [];
    const wanted = new Set<string>();
    for (const record of streams) {
      for (const [key, read] of await listValues(record)) {
        const id = `${record.id} ${key}`;
        wanted.add(id);
        const its = byKey.get(id);
        if (isReadNow(read, its, pending)) due.push({ streamId: record.id, read, known: its });
      }
    }
    const own = new Set(streams.map(({ id }) => id));
    const forgotten = known.filter(
      (each) => own.has(each.streamId) && !wanted.has(`${each.streamId} ${each.key}`),
    );

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
      const decimals = await decimalsOf(block, read);
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
    return { results, forgotten, lacking: [...lacking], sent };
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
