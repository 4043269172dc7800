/** What a draft would have matched in the blocks that are on the tape, one block at a time. */
import type { AptosWebhook, EvmWebhook } from '@sluice/kit';
import { mergeNearMisses, type NearMiss } from '@sluice/kit/sluice';
import { useEffect, useState } from 'react';
import { sluice } from './api.ts';
import { toAptosFields, toEvmFields, type StreamDraft } from './draft.ts';
import type { AptosNetwork } from '@sluice/kit';
import { sizeOf } from './format.ts';
import type { WatchedChain } from './tape.ts';

/** Newest first; more would take a node longer than one waits. */
const BLOCKS = 24;
/** After the last change, so that typing asks nothing. */
const SETTLE_MS = 600;
/** Bodies kept to leaf through. */
const KEPT_SAMPLES = 20;

export interface DryRunBlock {
  number: number;
  timestamp: number;
  /** Null while it was not asked. */
  records: number | null;
  /** Of the webhook; 0 where nothing matched. */
  bodyBytes: number;
}

export interface DryRun {
  blocks: DryRunBlock[];
  samples: { blockNumber: number; webhook: Partial<EvmWebhook> | Partial<AptosWebhook> }[];
  /** What one comparison of a filter kept out, by rule, most frequent first. */
  near: NearMiss[];
  /** Records of all blocks asked so far. */
  records: number;
  asked: number;
  state: 'idle' | 'running' | 'done';
  error: unknown;
}

const NOTHING: DryRun = {
  blocks: [],
  samples: [],
  near: [],
  records: 0,
  asked: 0,
  state: 'idle',
  error: null,
};

const RECORD_LISTS = ['logs', 'txs', 'txsInternal', 'transactions'];

const recordsOf = (webhook: object): number => {
  const lists = webhook as Record<string, unknown>;
  return RECORD_LISTS.reduce((sum, name) => {
    const list = lists[name];
    return sum + (Array.isArray(list) ? list.length : 0);
  }, 0);
};

/** What decides about a body: not where it goes, how fast, or under which name. */
function fieldsOf(draft: StreamDraft) {
  if (draft.family === 'evm') {
    const {
      webhookUrl: _url,
      description: _description,
      tag: _tag,
      chainIds: _chains,
      deliver: _deliver,
      notifyRemoved: _removed,
      headers: _headers,
      maxInFlight: _inFlight,
      maxPerSecond: _perSecond,
      strictOrder: _order,
      ...fields
    } = toEvmFields(draft);
    return fields;
  }
  const { functions, events, includePayload, includeEvents, includeChanges, allAddresses } =
    toAptosFields(draft);
  return {
    functions: [...(functions ?? [])],
    events: [...(events ?? [])],
    includePayload,
    includeEvents,
    includeChanges,
    allAddresses,
  };
}

async function askBlock(
  draft: StreamDraft,
  chain: string,
  blockNumber: number,
  addresses: string[],
  signal: AbortSignal,
): Promise<{ webhook: Partial<EvmWebhook> | Partial<AptosWebhook>; near: NearMiss[] }> {
  const fields = fieldsOf(draft);
  if ('functions' in fields) {
    const body = { ...fields, block: blockNumber, addresses };
    const network = chain.replace(/^aptos:/, '') as AptosNetwork;
    return { webhook: await sluice.dryRunAptosBlock(network, body, { signal }), near: [] };
  }
  const body = { ...fields, block: blockNumber, addresses };
  const { webhook, near } = await sluice.dryRunEvm(chain, body, { signal });
  return { webhook: webhook ?? {}, near };
}

/**
 * Runs again, from the newest block, whenever the draft changes.
 * @param chain where to look; undefined while none is chosen.
 * @param addresses null while what is typed is not complete.
 */
export function useDryRun(
  draft: StreamDraft,
  chain: WatchedChain | undefined,
  addresses: string[] | null,
): DryRun & { again: () => void } {
  const [run, setRun] = useState(NOTHING);
  const [round, setRound] = useState(0);
  // What is asked, as text: the same question is not asked twice.
  const question =
    chain === undefined || addresses === null || (!draft.allAddresses && addresses.length === 0)
      ? null
      : JSON.stringify([chain.id, round, addresses, fieldsOf(draft)]);
  const newest = chain?.blocks;

  useEffect(() => {
    if (question === null || chain === undefined || addresses === null) {
      setRun(NOTHING);
      return undefined;
    }
    const leaving = new AbortController();
    const blocks = (newest ?? [])
      .slice(0, BLOCKS)
      .map(({ number, timestamp }) => ({ number, timestamp, records: null, bodyBytes: 0 }));
    const timer = setTimeout(() => void askAll(blocks), SETTLE_MS);

    const askAll = async (blocks: DryRunBlock[]): Promise<void> => {
      let current: DryRun = { ...NOTHING, state: 'running', blocks };
      setRun(current);
      for (const { number } of blocks) {
        try {
          const { webhook, near } = await askBlock(
            draft,
            chain.id,
            number,
            addresses,
            leaving.signal,
          );
          const records = recordsOf(webhook);
          const bodyBytes = records === 0 ? 0 : sizeOf(JSON.stringify(webhook));
          current = {
            ...current,
            blocks: current.blocks.map((block) =>
              block.number === number ? { ...block, records, bodyBytes } : block,
            ),
            samples:
              records > 0 && current.samples.length < KEPT_SAMPLES
                ? [...current.samples, { blockNumber: number, webhook }]
                : current.samples,
            near: mergeNearMisses(current.near, near),
            records: current.records + records,
            asked: current.asked + 1,
          };
        } catch (error) {
          if (leaving.signal.aborted) return;
          setRun({ ...current, state: 'done', error });
          return;
        }
        if (leaving.signal.aborted) return;
        setRun(current);
      }
      setRun({ ...current, state: 'done' });
    };

    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
    // oxlint-disable-next-line react/exhaustive-deps -- the question says it all; new blocks ask nothing
  }, [question]);

  return { ...run, again: () => setRound(round + 1) };
}
