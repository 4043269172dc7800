/** Runs a draft against recent blocks, newest first, with one request per block. */
import type { AptosWebhook, EvmWebhook, AptosNetwork } from '@sluice/kit';
import { isSluiceError, type CloseMatch } from '@sluice/kit/sluice';
import { mergeCloseMatches } from '@sluice/kit/operator';
import { useEffect, useMemo, useRef, useState } from 'react';
import { sluice } from '../../../data/queries/service.ts';
import type { StreamDraft } from '../draft/draft.ts';
import { firstBlocks, olderBlocks, withOlderBlocks, type DryRunBlock } from './dryRunBlocks.ts';
import { canRun, toDryRunFields } from './dryRunQuestion.ts';
import { sizeOf } from '../../../ui/text/format.ts';
import {
  noneObserved,
  settleObserved,
  withObserved,
  type Observed,
  type ObservedEntry,
} from './observed.ts';
import { separatelyCountedPaths } from './observedPaths.ts';
import type { WatchedChain } from '../../../chains/timeline.ts';

/**
 * Delay after the last change to the draft, so that typing does not send a request per keystroke.
 */
const SETTLE_MS = 600;
/** Maximum number of webhooks that are kept as samples. */
const KEPT_SAMPLES = 20;

export interface DryRun {
  /** Key of the inputs of the last run; null before the first run. */
  question: string | null;
  /** Blocks of the run, newest first, including those that have not run yet. */
  blocks: DryRunBlock[];
  samples: { blockNumber: number; webhook: Partial<EvmWebhook> | Partial<AptosWebhook> }[];
  /** Close matches by rule, most frequent first. */
  closeMatches: CloseMatch[];
  /** Number of matched records in all blocks so far. */
  records: number;
  asked: number;
  state: 'idle' | 'running' | 'done';
  /** True if the nodes have no blocks before the oldest one of the run, such as after pruning. */
  isAtBeginning: boolean;
  error: unknown;
}

/** Actions on a run, and how far it can be extended. */
export interface DryRunSteps {
  /** Restarts with the newest blocks. */
  again: () => void;
  /**
   * Number of earlier blocks that can be added; 0 during a run, after an error or a change to the
   * draft, or if there are none.
   */
  further: number;
  /** Runs the remaining blocks after an error, or adds earlier blocks if none remain. */
  goOn: () => void;
  /** Stops the run and keeps its results. */
  stop: () => void;
}

const NOTHING_OBSERVED = noneObserved('');
const NOTHING: DryRun = {
  question: null,
  blocks: [],
  samples: [],
  closeMatches: [],
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

interface BlockResult {
  webhook: Partial<EvmWebhook> | Partial<AptosWebhook>;
  closeMatches: CloseMatch[];
  observed: ObservedEntry[];
  /** Timestamp of the block in Unix milliseconds; null if nothing matched. */
  timestamp: number | null;
}

async function queryBlock(
  draft: StreamDraft,
  chain: string,
  blockNumber: number,
  addresses: string[],
  signal: AbortSignal,
): Promise<BlockResult> {
  const body = { ...toDryRunFields(draft), block: blockNumber, addresses };
  if (draft.family === 'aptos') {
    const network = chain.replace(/^aptos:/, '') as AptosNetwork;
    const { webhook, observed } = await sluice.dryRunAptos(network, body, { signal });
    const timestamp = webhook === null ? null : Number(webhook.block.timestamp) / 1000;
    return { webhook: webhook ?? {}, closeMatches: [], observed, timestamp };
  }
  const { webhook, closeMatches, observed } = await sluice.dryRunEvm(chain, body, { signal });
  const timestamp = webhook === null ? null : Number(webhook.block.timestamp) * 1000;
  return { webhook: webhook ?? {}, closeMatches, observed, timestamp };
}

/**
 * Dry-runs a draft. Restarts with the newest block whenever an input that affects the results
 * changes.
 * @param chain undefined while none is selected.
 * @param addresses null while the input is incomplete.
 */
export function useDryRun(
  draft: StreamDraft,
  chain: WatchedChain | undefined,
  addresses: string[] | null,
): DryRun & DryRunSteps & { observed: Observed } {
  const [run, setRun] = useState(NOTHING);
  const [observed, setSeen] = useState(NOTHING_OBSERVED);
  const [round, setRound] = useState(0);
  /** Controller that aborts the run in progress. */
  const leaving = useRef<AbortController>(undefined);
  const chainId = chain?.id;
  // The keys `where` and `question` prevent a second run with the same inputs. They are memoized,
  // because there may be many addresses.
  const mayAsk = canRun(draft, addresses);
  const where = useMemo(
    () =>
      chainId === undefined || !mayAsk
        ? null
        : JSON.stringify([
            ...[chainId, round, draft.allAddresses, addresses],
            separatelyCountedPaths(draft.moveEvents),
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
      let result: BlockResult;
      try {
        result = await queryBlock(draft, chainId, number, addresses ?? [], signal);
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
      const { webhook, closeMatches } = result;
      const records = recordsOf(webhook);
      const bodyBytes = records === 0 ? 0 : sizeOf(JSON.stringify(webhook));
      current = {
        ...current,
        blocks: current.blocks.map((block) =>
          block.number === number
            ? { ...block, records, bodyBytes, timestamp: block.timestamp ?? result.timestamp }
            : block,
        ),
        samples:
          records > 0 && current.samples.length < KEPT_SAMPLES
            ? [...current.samples, { blockNumber: number, webhook }]
            : current.samples,
        closeMatches: mergeCloseMatches(current.closeMatches, closeMatches),
        records: current.records + records,
        asked: current.asked + 1,
      };
      setRun(current);
      setSeen((before) => withObserved(before, where, number, result.observed));
    }
    setRun({ ...current, state: 'done' });
    setSeen((before) => settleObserved(before, { again: from.asked > 0 }));
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
    // oxlint-disable-next-line react/exhaustive-deps -- the question covers all inputs; new blocks start no run
  }, [question]);

  // The results of an earlier draft are shown until the next run starts, but that draft's run
  // cannot be continued.
  const mayGoOn = run.state === 'done' && run.question === question;
  return {
    ...run,
    observed: observed.of === where ? observed : NOTHING_OBSERVED,
    again: () => setRound(round + 1),
    further: mayGoOn && run.error === null && !run.isAtBeginning ? olderBlocks(run.blocks) : 0,
    goOn() {
      if (!mayGoOn) return;
      const isPartial = !run.blocks.every(isAsked);
      const blocks = isPartial ? run.blocks : withOlderBlocks(run.blocks, chain?.blocks ?? []);
      void ask({ ...run, blocks });
    },
    stop() {
      leaving.current?.abort();
      setRun({
        ...run,
        state: 'done',
        blocks: run.blocks.filter(isAsked),
      });
      setSeen((before) => settleObserved(before, { again: true }));
    },
  };
}
