/** What a draft would have matched in the newest blocks, one block at a time. */
import type { AptosWebhook, EvmWebhook } from '@sluice/kit';
import { isSluiceError, mergeNearMisses, type NearMiss } from '@sluice/kit/sluice';
import { useEffect, useMemo, useRef, useState } from 'react';
import { sluice } from '../../../data/queries/service.ts';
import type { StreamDraft } from '../draft/draft.ts';
import { firstBlocks, olderBlocks, withOlderBlocks, type DryRunBlock } from './dryRunBlocks.ts';
import type { AptosNetwork } from '@sluice/kit';
import { isAskable, toDryRunFields } from './dryRunQuestion.ts';
import { sizeOf } from '../../../ui/text/format.ts';
import { noneSeen, settleSeen, withSeen, type Seen, type SeenEntry } from './seen.ts';
import { pathsCountedApart } from './seenPaths.ts';
import type { WatchedChain } from '../../../chains/tape.ts';

/** After the last change, so that typing asks nothing. */
const SETTLE_MS = 600;
/** Bodies kept to leaf through. */
const KEPT_SAMPLES = 20;

export interface DryRun {
  /** What it was asked for; null before the first. */
  question: string | null;
  /** Newest first. */
  blocks: DryRunBlock[];
  samples: { blockNumber: number; webhook: Partial<EvmWebhook> | Partial<AptosWebhook> }[];
  /** What one comparison of a filter kept out, by rule, most frequent first. */
  near: NearMiss[];
  /** Records of all blocks asked so far. */
  records: number;
  asked: number;
  state: 'idle' | 'running' | 'done';
  /** The nodes have no block before these: the chain begins here, or what was before is pruned. */
  isAtBeginning: boolean;
  error: unknown;
}

/** What can be done with a run, beside changing the draft. */
export interface DryRunSteps {
  /** Begins anew, with the newest blocks. */
  again: () => void;
  /** So many blocks more can be looked at; 0 while it runs, and where there are no more. */
  further: number;
  /** Goes on with them, or where it was broken off. */
  goOn: () => void;
  /** Keeps what there is. */
  stop: () => void;
}

const NOTHING_SEEN = noneSeen('');
const NOTHING: DryRun = {
  question: null,
  blocks: [],
  samples: [],
  near: [],
  records: 0,
  asked: 0,
  state: 'idle',
  isAtBeginning: false,
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

const isAsked = ({ records }: DryRunBlock): boolean => records !== null;

interface BlockAnswer {
  webhook: Partial<EvmWebhook> | Partial<AptosWebhook>;
  near: NearMiss[];
  seen: SeenEntry[];
  /** Of the block, in milliseconds; null where the webhook does not tell. */
  timestamp: number | null;
}

async function askBlock(
  draft: StreamDraft,
  chain: string,
  blockNumber: number,
  addresses: string[],
  signal: AbortSignal,
): Promise<BlockAnswer> {
  const fields = toDryRunFields(draft);
  if ('functions' in fields) {
    const body = { ...fields, block: blockNumber, addresses };
    const network = chain.replace(/^aptos:/, '') as AptosNetwork;
    const { webhook, seen } = await sluice.dryRunAptos(network, body, { signal });
    const timestamp = webhook === null ? null : Number(webhook.block.timestamp) / 1000;
    return { webhook: webhook ?? {}, near: [], seen, timestamp };
  }
  const body = { ...fields, block: blockNumber, addresses };
  const { webhook, near, seen } = await sluice.dryRunEvm(chain, body, { signal });
  const timestamp = webhook === null ? null : Number(webhook.block.timestamp) * 1000;
  return { webhook: webhook ?? {}, near, seen, timestamp };
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
): DryRun & DryRunSteps & { seen: Seen } {
  const [run, setRun] = useState(NOTHING);
  const [seen, setSeen] = useState(NOTHING_SEEN);
  const [round, setRound] = useState(0);
  /** Ends what is asked now. */
  const leaving = useRef<AbortController>(undefined);
  const chainId = chain?.id;
  // What is asked, as text: the same question is not asked twice. The addresses may be many.
  const mayAsk = isAskable(draft, addresses);
  const where = useMemo(
    () =>
      chainId === undefined || !mayAsk
        ? null
        : JSON.stringify([
            ...[chainId, round, draft.allAddresses, addresses],
            pathsCountedApart(draft.moveEvents),
          ]),
    [chainId, round, mayAsk, draft.allAddresses, addresses, draft.moveEvents],
  );
  const question = useMemo(
    () => (where === null ? null : where + JSON.stringify(toDryRunFields(draft))),
    [where, draft],
  );

  const ask = async (from: DryRun): Promise<void> => {
    if (question === null || where === null || chainId === undefined) return;
    const { signal } = (leaving.current = new AbortController());
    let current: DryRun = { ...from, question, state: 'running', error: null };
    setRun(current);
    for (const { number } of from.blocks.filter((block) => !isAsked(block))) {
      let answer: BlockAnswer;
      try {
        answer = await askBlock(draft, chainId, number, addresses ?? [], signal);
      } catch (error) {
        if (signal.aborted) return;
        if (current.asked === 0 || !isSluiceError(error, 'not_found')) {
          setRun({ ...current, state: 'done', error });
          return;
        }
        current = { ...current, blocks: current.blocks.filter(isAsked), isAtBeginning: true };
        break;
      }
      if (signal.aborted) return;
      const { webhook, near } = answer;
      const records = recordsOf(webhook);
      const bodyBytes = records === 0 ? 0 : sizeOf(JSON.stringify(webhook));
      current = {
        ...current,
        blocks: current.blocks.map((block) =>
          block.number === number
            ? { ...block, records, bodyBytes, timestamp: block.timestamp ?? answer.timestamp }
            : block,
        ),
        samples:
          records > 0 && current.samples.length < KEPT_SAMPLES
            ? [...current.samples, { blockNumber: number, webhook }]
            : current.samples,
        near: mergeNearMisses(current.near, near),
        records: current.records + records,
        asked: current.asked + 1,
      };
      setRun(current);
      setSeen((before) => withSeen(before, where, number, answer.seen));
    }
    setRun({ ...current, state: 'done' });
    setSeen((before) => settleSeen(before, { anew: from.asked > 0 }));
  };

  useEffect(() => {
    if (question === null) {
      setRun(NOTHING);
      return undefined;
    }
    const blocks = firstBlocks(chain?.blocks ?? []);
    const timer = setTimeout(() => void ask({ ...NOTHING, blocks }), SETTLE_MS);
    return () => {
      clearTimeout(timer);
      leaving.current?.abort();
    };
    // oxlint-disable-next-line react/exhaustive-deps -- the question says it all; new blocks ask nothing
  }, [question]);

  // Until it begins anew, a run of another question is only there to be read.
  const mayGoOn = run.state === 'done' && run.question === question;
  return {
    ...run,
    seen: seen.of === where ? seen : NOTHING_SEEN,
    again: () => setRound(round + 1),
    further: mayGoOn && run.error === null && !run.isAtBeginning ? olderBlocks(run.blocks) : 0,
    goOn() {
      if (!mayGoOn) return;
      const isBrokenOff = !run.blocks.every(isAsked);
      const blocks = isBrokenOff ? run.blocks : withOlderBlocks(run.blocks, chain?.blocks ?? []);
      void ask({ ...run, blocks });
    },
    stop() {
      leaving.current?.abort();
      setRun({
        ...run,
        state: 'done',
        blocks: run.blocks.filter(isAsked),
      });
      setSeen((before) => settleSeen(before, { anew: true }));
    },
  };
}
