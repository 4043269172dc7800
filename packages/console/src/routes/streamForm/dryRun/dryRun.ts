/** Runs a draft against recent blocks, newest first, with one request per block. */
import { isSluiceError, type CloseMatch } from '@sluice/kit/sluice';
import type { AnyWebhook } from '@sluice/kit/contract';
import {
  type BlockMatch,
  DRY_RUNS,
  countRecords,
  mergeCloseMatches,
  webhooksOf,
} from '@sluice/kit/operator';
import { useEffect, useMemo, useRef, useState } from 'react';
import { sluice } from '../../../data/queries/service.ts';
import type { StreamDraft } from '../draft/draft.ts';
import { firstBlocks, olderBlocks, withOlderBlocks, type DryRunBlock } from './dryRunBlocks.ts';
import { canRun, toDryRunFields } from './dryRunQuestion.ts';
import { sizeOf } from '../../../ui/text/sizeOf.ts';
import { emptyObserved, settleObserved, withObserved, type Observed } from './observed.ts';
import { DRAFT_FAMILIES } from '../../../families/draftFamilies.ts';
import { timeOf } from '../../../families/body.ts';
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
  samples: { blockNumber: number; webhook: AnyWebhook }[];
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

const NOTHING_OBSERVED = emptyObserved('');
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

const isAsked = ({ records }: DryRunBlock): boolean => records !== null;

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
  const countedApart = DRAFT_FAMILIES[draft.family].countsApart(draft).join('\n');
  const where = useMemo(
    () =>
      chainId === undefined || !mayAsk
        ? null
        : JSON.stringify([...[chainId, round, draft.allAddresses, addresses], countedApart]),
    [chainId, round, mayAsk, draft.allAddresses, addresses, countedApart],
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
      let result: BlockMatch;
      try {
        const fields = { ...toDryRunFields(draft), block: number, addresses: addresses ?? [] };
        result = await DRY_RUNS[draft.family](sluice, chainId, fields, { signal });
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
      const webhooks = webhooksOf(result).filter((each) => countRecords(each) > 0);
      const [webhook = null] = webhooks;
      const records = webhooks.reduce((sum, each) => sum + countRecords(each), 0);
      const bodyBytes = webhooks.reduce((sum, each) => sum + sizeOf(JSON.stringify(each)), 0);
      current = {
        ...current,
        blocks: current.blocks.map((block) =>
          block.number === number
            ? { ...block, records, bodyBytes, timestamp: block.timestamp ?? timeOf(webhook) }
            : block,
        ),
        samples:
          webhook !== null && current.samples.length < KEPT_SAMPLES
            ? [...current.samples, { blockNumber: number, webhook }]
            : current.samples,
        closeMatches: mergeCloseMatches(current.closeMatches, result.closeMatches),
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
