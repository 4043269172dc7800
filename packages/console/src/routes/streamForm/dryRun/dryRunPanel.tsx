import { DRAFT_FAMILIES } from '../../../families/draftFamilies.ts';
import { FORM_WORDS } from '../../../families/formWords.ts';
import { ChevronLeft, ChevronRight, RotateCw } from 'lucide-react';
import { useMemo, useState } from 'react';
import { bodyOf } from '../../../body/body.ts';
import { OPERATOR_WORDS } from '../../../families/draft.ts';
import { type StreamDraft } from '../draft/draft.ts';
import type { CloseMatch } from '@sluice/kit/sluice';
import { nameOfCloseMatch, ruleOfCloseMatch, signatureOfCloseMatch } from '@sluice/kit/operator';
import { FIRST_BLOCKS, type DryRunBlock } from './dryRunBlocks.ts';
import { dryRunFigures, dryRunSpan, type DryRunFigures } from './dryRunFigures.ts';
import {
  formatAbout,
  formatBytes,
  formatCount,
  formatQuantity,
  formatSpan,
} from '../../../ui/text/format.ts';
import { heightOf, type Timeline, type WatchedChain } from '../../../chains/timeline.ts';
import { isAmount, toAmount, type TokenUnit } from '../draft/tokenAmount.ts';
import { BlockTimeline } from '../../../chains/blockTimeline.tsx';
import { Button } from '../../../ui/button.tsx';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { wordOfFilterName } from '../../../words/names.ts';
import { JsonTree } from '../../../body/jsonTree.tsx';
import { Segments } from '../../../ui/form/segments.tsx';
import { DecodedView } from '../../delivery/body/decodedView.tsx';
import type { Watched } from '../sentence/describeStream.ts';
import { Sentence } from '../sentence/sentence.tsx';
import { useSharedDryRun } from './sharedDryRun.tsx';

const toTimeline = (blocks: readonly DryRunBlock[]): Timeline => ({
  ticks: blocks.toReversed().map(({ records }) => ({
    height: heightOf(records ?? 0),
    fill: records === null ? 'unknown' : records === 0 ? 'empty' : 'solid',
  })),
  unconfirmed: 0,
});

/** Shows what the stream sends, and what it would have sent for recent blocks, next to its form. */
export function DryRunPanel({
  draft,
  chain,
  watched,
  instead,
}: {
  draft: StreamDraft;
  chain: WatchedChain | undefined;
  /** The stream's addresses; undefined if its sentence is shown elsewhere. */
  watched: Watched | undefined;
  /** Content that replaces the samples. */
  instead?: React.ReactNode;
}) {
  const run = useSharedDryRun();
  const first = run.blocks.at(-1)?.number;
  const last = run.blocks[0]?.number;
  const timesSent = DRAFT_FAMILIES[draft.family].timesSent(draft);
  const figures = dryRunFigures(run.blocks, timesSent);
  const spanMs = dryRunSpan(run.blocks);

  return (
    <section aria-label="Dry run" className="flex min-h-0 min-w-0 flex-1 flex-col">
      <header className="border-b border-line px-4 py-3">
        {watched !== undefined && (
          <p className="mb-2 text-14 wrap-anywhere">
            <Sentence draft={draft} watched={watched} />
          </p>
        )}
        <div className="flex items-center gap-3">
          <h2 className="caps">Dry run</h2>
          {chain !== undefined && <span className="data text-muted">{chain.code}</span>}
          {run.blocks.length > 0 && (
            <span className="min-w-0 text-muted">
              last {formatQuantity(run.blocks.length, 'block')}
              {spanMs !== null &&
                `, ${run.blocks.at(-1)?.timestamp === null ? '≈ ' : ''}${formatSpan(spanMs)}`}
            </span>
          )}
          <span className="ml-auto" />
          <Button
            variant="quiet"
            square
            disabled={run.state === 'idle'}
            aria-label="Run again with the newest blocks"
            data-tip="Run again with the newest blocks"
            onClick={run.again}
          >
            <RotateCw size={14} strokeWidth={1.5} aria-hidden="true" />
          </Button>
        </div>
        {run.blocks.length > 0 && (
          <div className="mt-1 flex flex-wrap items-center gap-x-4">
            <BlockTimeline
              size={run.blocks.length > FIRST_BLOCKS ? 'long' : 'dry'}
              timeline={toTimeline(run.blocks)}
              length={run.blocks.length}
              label={`Records in blocks ${first} to ${last}`}
            />
            <span className="data text-faint">
              {formatCount(first ?? 0)} – {formatCount(last ?? 0)}
            </span>
            {run.state === 'running' && run.asked > 0 && (
              <Button variant="quiet" onClick={run.stop}>
                Stop
              </Button>
            )}
            {run.isAtBeginning && (
              <span className="text-12 text-muted">No earlier blocks available.</span>
            )}
            {run.further > 0 && (
              <Button variant="quiet" onClick={run.goOn}>
                Check {formatCount(run.further)} more
              </Button>
            )}
          </div>
        )}
        <output className="mt-1 block">
          {run.state === 'idle' ? (
            <span className="text-muted">
              {chain === undefined
                ? 'Choose a chain.'
                : `Starts when you add ${FORM_WORDS[draft.family].watched}, or select all addresses and ${FORM_WORDS[draft.family].selection}.`}
            </span>
          ) : (
            <>
              <span className="font-medium">{formatQuantity(run.records, 'record')}</span>{' '}
              <span className="text-muted">
                in {figures?.matched ?? 0} of {formatQuantity(run.asked, 'block')}
                {figures !== null && `, ${formatBytes(figures.averageBytes)} per webhook`}
                {run.state === 'running' && ` · ${run.blocks.length - run.asked} left`}
              </span>
            </>
          )}
        </output>
        {figures !== null && <Days figures={figures} isSentTwice={timesSent === 2} />}
        {run.closeMatches.length > 0 && (
          <CloseMatches closeMatches={run.closeMatches} unit={run.known.only} />
        )}
      </header>
      {run.error !== null && (
        <ErrorPanel what="The dry run stopped" error={run.error} onRetry={run.goOn} />
      )}
      {instead ? <div className="min-h-0 flex-1 overflow-y-auto">{instead}</div> : <Samples />}
    </section>
  );
}

/** Shows the webhooks of the run, one at a time. */
function Samples() {
  const run = useSharedDryRun();
  const [at, setAt] = useState(0);
  const [shows, setShows] = useState<'decoded' | 'payload'>('decoded');
  const sample = run.samples[Math.min(at, run.samples.length - 1)];
  return (
    <>
      {run.state === 'done' && run.error === null && run.samples.length === 0 && (
        <p className="px-4 py-3 text-muted">
          No matches in the last {formatQuantity(run.asked, 'block')}. This can be normal for quiet
          addresses.
        </p>
      )}
      {sample !== undefined && (
        <>
          <div className="flex items-center gap-2 border-b border-line px-4 py-1">
            <span className="text-12 text-muted">Sample</span>
            <span className="data">block {formatCount(sample.blockNumber)}</span>
            <span className="data ml-auto text-faint">
              {run.samples.indexOf(sample) + 1}/{run.samples.length}
            </span>
            <Button
              variant="quiet"
              square
              aria-label="Previous sample"
              disabled={at <= 0}
              onClick={() => setAt(at - 1)}
            >
              <ChevronLeft size={14} strokeWidth={1.5} aria-hidden="true" />
            </Button>
            <Button
              variant="quiet"
              square
              aria-label="Next sample"
              disabled={at >= run.samples.length - 1}
              onClick={() => setAt(at + 1)}
            >
              <ChevronRight size={14} strokeWidth={1.5} aria-hidden="true" />
            </Button>
            <Segments
              label="Show the sample as"
              options={[
                { value: 'decoded', label: 'Decoded' },
                { value: 'payload', label: 'Payload' },
              ]}
              value={shows}
              onChange={setShows}
            />
          </div>
          <Sample webhook={sample.webhook} shows={shows} />
        </>
      )}
    </>
  );
}

/** Shows the estimated daily volume of the stream, the largest body and the busiest block. */
function Days({
  figures: { perDay, spanMs, largestBytes, busiestRecords },
  isSentTwice,
}: {
  figures: DryRunFigures;
  isSentTwice: boolean;
}) {
  return (
    <>
      {perDay !== null && (
        <p>
          <span className="font-medium">{formatAbout(perDay.records)} records</span>{' '}
          <span className="text-muted">per day,</span>{' '}
          <span className="font-medium">{formatAbout(perDay.webhooks)} webhooks</span>{' '}
          <span className="text-muted">
            per day
            {isSentTwice && ' (sent twice: when the block appears and when it is confirmed)'}
          </span>
        </p>
      )}
      <p className="text-12 text-muted">
        Largest body {formatBytes(largestBytes)}, busiest block{' '}
        {formatQuantity(busiestRecords, 'record')}
        {perDay !== null && `; daily estimates from ${formatSpan(spanMs)} of blocks`}
      </p>
    </>
  );
}

/**
 * Shows close matches. Without them, a filter that is slightly too strict would look like a lack of
 * events or calls.
 */
function CloseMatches({
  closeMatches,
  unit,
}: {
  closeMatches: readonly CloseMatch[];
  unit: TokenUnit | null;
}) {
  return (
    <section aria-label="Close matches" className="mt-2">
      <h3 className="text-12 text-muted">Close matches</h3>
      <ul>
        {closeMatches.map((each) => (
          <li key={ruleOfCloseMatch(each)} className="flex flex-wrap items-baseline gap-x-2">
            <span className="font-medium">
              {formatCount(each.count)} {nameOfCloseMatch(each)}
            </span>
            <span className="data min-w-0 break-all">
              {wordOfFilterName(each.name)} {formatRange(each, unit)}
            </span>
            <span className="data min-w-0 break-all text-muted">
              not {OPERATOR_WORDS[each.operator]} {formatValue(each, each.filterValue, unit)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function formatValue(miss: CloseMatch, value: string, unit: TokenUnit | null): string {
  const isOne =
    signatureOfCloseMatch(miss).includes('uint256') &&
    isAmount({ name: miss.name, type: 'uint256' });
  return (isOne && unit && toAmount(value, unit)) || formatCount(BigInt(value));
}

function formatRange(miss: CloseMatch, unit: TokenUnit | null): string {
  const [least, most] = [miss.min, miss.max].map((value) => formatValue(miss, value, unit));
  return least === most ? `${least}` : `${least} – ${most}`;
}

function Sample({ webhook, shows }: { webhook: unknown; shows: 'decoded' | 'payload' }) {
  const body = useMemo(() => bodyOf(webhook), [webhook]);
  return shows === 'decoded' ? (
    <DecodedView body={body} />
  ) : (
    <JsonTree body={body} label="Sample" />
  );
}
