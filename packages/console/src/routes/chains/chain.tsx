import { Link } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { nodeChangesQuery } from '../../data/queries/access.ts';
import { chainCondition, isChainDown } from '../../words/condition.ts';
import { formatCount, formatQuantity, formatSpan } from '../../ui/text/format.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { BlockAge } from '../../chains/blockAge.tsx';
import { UnverifiedCodes } from '../../chains/unverifiedCodes.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { ChainProblem } from '../../words/chainProblem.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Status } from '../../ui/status.tsx';
import { Gaps, Reorgs } from './chainLog.tsx';
import { Agreement, Nodes } from './nodes.tsx';
import { type AddedNode, RemoveNode } from './removeNode.tsx';
import { ResumeForm } from './resumeForm.tsx';
import { ExplorerLink } from './explorerLink.tsx';

/** Shows the progress of a chain, its nodes, gaps and reorgs. */
export function Chain({ chain }: { chain: WatchedChain }) {
  const [resuming, setResuming] = useState(false);
  const [removed, setRemoved] = useState<AddedNode>();
  const { data: canChange } = useQuery(nodeChangesQuery);
  const { id, name, state, head, checkpoint, confirmedUpTo, confirmations } = chain;
  const { safe, finalized, agreement, providers, unverified, trust } = chain;
  const lag = head === null || checkpoint === null ? null : Math.max(0, head - checkpoint);
  return (
    <section aria-label={name} className="border-b border-line px-4 py-4">
      <div className="flex flex-wrap items-center gap-x-4">
        <h2 className="text-16 font-semibold">{name}</h2>
        <span className="data text-faint">{id}</span>
        <Status condition={chainCondition(chain)} />
        <Link to="/deliveries" search={{ chain: id }} className={`${buttonClass('quiet')} ml-auto`}>
          Deliveries
        </Link>
        {state === 'down' && <Button onClick={() => setResuming(true)}>Resume from block…</Button>}
      </div>
      <ChainProblem chain={chain} className="mt-1" />
      {unverified !== null && (
        <div className="mt-1 break-words">
          <p className="text-warn">
            {formatQuantity(unverified.blocks, 'unverified block')}, latest{' '}
            {formatCount(unverified.latest)}
          </p>
          <UnverifiedCodes codes={Object.keys(unverified.byCode)} counts={unverified.byCode} />
        </div>
      )}
      <div data-stale={isChainDown(chain) || undefined} className="mt-3">
        <dl className="grid grid-cols-[max-content_auto] items-baseline gap-x-4 sm:grid-cols-[repeat(3,max-content_auto)]">
          <Figure label="head">
            {head === null ? '–' : formatCount(head)}{' '}
            {head !== null && <ExplorerLink chainId={id} page="block" value={String(head)} />}
            <BlockAge chain={chain} always className="text-faint" />
          </Figure>
          <Figure label="committed">
            {checkpoint === null ? '–' : formatCount(checkpoint)}
            {lag !== null && lag > 0 && <span className="text-warn"> −{formatCount(lag)}</span>}
          </Figure>
          <Figure label="confirmed">
            {confirmedUpTo === null ? '–' : formatCount(confirmedUpTo)}
            <span className="text-faint">
              {' '}
              {confirmations === 'finalized'
                ? 'as the chain reports'
                : confirmations === 0
                  ? 'immediately'
                  : `after ${formatQuantity(confirmations, 'block')}`}
            </span>
          </Figure>
          <Tagged label="safe" height={safe} head={head} />
          <Tagged label="finalized" height={finalized} head={head} />
          {trust !== null && <Figure label="trust">{trust}</Figure>}
        </dl>
      </div>
      <Progress chain={chain} />
      <Nodes nodes={providers} best={head} onRemove={canChange === true ? setRemoved : undefined} />
      {agreement !== null && <Agreement agreement={agreement} nodes={providers.length} />}
      <div className="mt-3 grid max-w-220 gap-x-16 gap-y-3 md:grid-cols-2">
        <Gaps chain={id} />
        <Reorgs chain={id} />
      </div>
      {removed !== undefined && (
        <RemoveNode chain={chain} node={removed} onClose={() => setRemoved(undefined)} />
      )}
      {resuming && (
        <Dialog title={`Resume ${name}`} onClose={() => setResuming(false)}>
          <ResumeForm chain={chain} onDone={() => setResuming(false)} />
        </Dialog>
      )}
    </section>
  );
}

function Figure({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <>
      <dt className="text-12 text-faint">{label}</dt>
      <dd className="data">{children}</dd>
    </>
  );
}

/**
 * Shows the height that nodes report for a tag such as `safe`. Nodes of chains without reorgs often
 * do not support these tags.
 */
function Tagged({
  label,
  height,
  head,
}: {
  label: string;
  height: number | null;
  head: number | null;
}) {
  return (
    <Figure label={label}>
      {height === null ? (
        <span className="text-faint">– not reported</span>
      ) : (
        <>
          {formatCount(height)}
          {head !== null && head > height && (
            <span className="text-faint"> −{formatCount(head - height)}</span>
          )}
        </>
      )}
    </Figure>
  );
}

function Progress({ chain: { progress, checkpoint } }: { chain: WatchedChain }) {
  if (progress === null || checkpoint === null) return null;
  const { from, to, perSecond, secondsLeft } = progress;
  return (
    <div className="mt-3 flex max-w-160 flex-wrap items-center gap-x-3">
      <progress
        aria-label="Catching up"
        value={checkpoint - from}
        max={Math.max(1, to - from)}
        className="h-1.5 min-w-40 flex-1 accent-accent"
      />
      <span className="data text-muted">
        {formatQuantity(Math.max(0, to - checkpoint), 'block')} behind · {perSecond.toFixed(1)}/s
        {secondsLeft !== null && ` · ${formatSpan(secondsLeft * 1000)} left`}
      </span>
    </div>
  );
}
