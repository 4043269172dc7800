import type { ChainAgreement, ChainGap, ProviderHealth, Reorg } from '@sluice/kit/sluice';
import { type UseQueryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { chainsQuery, gapsQuery, queryKeys, reorgsQuery, sluice } from '../api.ts';
import {
  type Condition,
  CHAIN_CONDITIONS,
  GAP_CONDITIONS,
  PROVIDER_CONDITIONS,
} from '../condition.ts';
import {
  formatCount,
  formatDateTime,
  formatDuration,
  formatQuantity,
  formatSpan,
} from '../format.ts';
import { useMedia } from '../media.ts';
import { chainTape, type WatchedChain } from '../tape.ts';
import { BlockTape } from '../ui/blockTape.tsx';
import { Button, buttonClass } from '../ui/button.tsx';
import { CallForm } from '../ui/callForm.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorPanel } from '../ui/errorPanel.tsx';
import { TextField } from '../ui/field.tsx';
import { Status } from '../ui/status.tsx';
import { AddNode } from './addNode.tsx';

const TAPE_LENGTH = 60;
const NARROW_LENGTH = 34;
/** Of each of a chain’s logs. */
const SHOWN_ENTRIES = 5;
/** What is known of the nodes is told by no event but a change of the chain’s state. */
const NODES_REFRESH_MS = 5_000;

const nodesOf = (chains: readonly WatchedChain[]): number =>
  chains.reduce((sum, { providers }) => sum + providers.length, 0);

/** How each chain is followed: how far, from which nodes, and what stands in the way. */
export function ChainsPage() {
  const chains = useQuery({ ...chainsQuery, refetchInterval: NODES_REFRESH_MS });
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      {chains.isError && (
        <ErrorPanel
          what="The chains could not be read"
          error={chains.error}
          onRetry={() => void chains.refetch()}
          stale={chains.data !== undefined}
        />
      )}
      {chains.data !== undefined && chains.data.length > 0 && (
        <header className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2">
          <p className="text-12 text-muted">
            {formatQuantity(chains.data.length, 'chain')},{' '}
            {formatQuantity(nodesOf(chains.data), 'node')}
          </p>
          <Button className="ml-auto" onClick={() => setAdding(true)}>
            <Plus size={14} strokeWidth={1.5} aria-hidden="true" />
            Add a node…
          </Button>
        </header>
      )}
      {chains.isPending && <p className="animate-late p-4 text-faint">Loading</p>}
      {chains.data?.length === 0 && (
        <div className="px-4 py-6">
          <p className="font-medium">No chain is watched</p>
          <p className="mt-1 text-muted">
            Name one when the service starts, with the URL of a node.
          </p>
          <Button className="mt-3" onClick={() => setAdding(true)}>
            Add a node…
          </Button>
        </div>
      )}
      {chains.data?.map((chain) => (
        <Chain key={chain.id} chain={chain} />
      ))}
      {isAdding && <AddNode chains={chains.data ?? []} onClose={() => setAdding(false)} />}
    </>
  );
}

function Chain({ chain }: { chain: WatchedChain }) {
  const [resuming, setResuming] = useState(false);
  const wide = useMedia('(min-width: 640px)');
  const length = wide ? TAPE_LENGTH : NARROW_LENGTH;
  const { id, name, state, message, head, checkpoint, confirmedUpTo, confirmations } = chain;
  const { safe, finalized, agreement, providers } = chain;
  const lag = head === null || checkpoint === null ? null : Math.max(0, head - checkpoint);
  return (
    <section aria-label={name} className="border-b border-line px-4 py-4">
      <div className="flex flex-wrap items-center gap-x-4">
        <h2 className="text-16 font-semibold">{name}</h2>
        <span className="data text-faint">{id}</span>
        <Status condition={CHAIN_CONDITIONS[state]} />
        <Link to="/deliveries" search={{ chain: id }} className={`${buttonClass('quiet')} ml-auto`}>
          Deliveries
        </Link>
        {state === 'down' && (
          <Button onClick={() => setResuming(true)}>Resume from a block…</Button>
        )}
      </div>
      {message !== '' && (
        <p className={`mt-1 break-words ${state === 'down' ? 'text-bad' : 'text-muted'}`}>
          {message}
        </p>
      )}
      <div className="mt-3 flex flex-wrap items-end gap-x-10 gap-y-3">
        <BlockTape
          size="wide"
          tape={chainTape(chain, length)}
          length={length}
          label={`Matches in the last ${length} blocks of ${name}`}
        />
        <dl className="grid grid-cols-[auto_auto] gap-x-4">
          <Figure label="head">{head === null ? '–' : formatCount(head)}</Figure>
          <Figure label="committed">
            {checkpoint === null ? '–' : formatCount(checkpoint)}
            {lag !== null && lag > 0 && <span className="text-warn"> −{formatCount(lag)}</span>}
          </Figure>
          <Figure label="confirmed">
            {confirmedUpTo === null ? '–' : formatCount(confirmedUpTo)}
            <span className="text-faint">
              {' '}
              {confirmations === 'finalized'
                ? 'as the chain says'
                : confirmations === 0
                  ? 'at once'
                  : `after ${formatQuantity(confirmations, 'block')}`}
            </span>
          </Figure>
          <Tagged label="safe" height={safe} head={head} />
          <Tagged label="finalized" height={finalized} head={head} />
        </dl>
      </div>
      <Progress chain={chain} />
      <Providers providers={providers} best={head} />
      {agreement !== null && <Agreement agreement={agreement} nodes={providers.length} />}
      <div className="mt-3 grid max-w-220 gap-x-16 gap-y-3 md:grid-cols-2">
        <ChainLog
          title="Gaps"
          none="No block was left out."
          query={gapsQuery(id)}
          toEntry={describeGap}
        />
        <ChainLog
          title="Reorgs"
          none="The chain never went another way."
          query={reorgsQuery(id)}
          toEntry={describeReorg}
        />
      </div>
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

/** What nodes call so; most that do not know the tag have chains that never undo a block, or long ones. */
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
        <span className="text-faint">– no node says</span>
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

function Providers({
  providers,
  best,
}: {
  providers: readonly ProviderHealth[];
  best: number | null;
}) {
  return (
    <div className="mt-3 overflow-x-auto">
      <table className="w-full max-w-220 border-collapse">
        <caption className="sr-only">Nodes</caption>
        <thead>
          <tr className="border-b border-line text-left">
            <th scope="col" className="caps py-1 pr-3">
              Node
            </th>
            <th scope="col" className="caps px-3">
              State
            </th>
            <th scope="col" className="caps px-3 text-right">
              Head
            </th>
            <th scope="col" className="caps px-3 text-right">
              Latency
            </th>
            <th scope="col" className="caps px-3 text-right max-sm:hidden">
              Failures
            </th>
            <th scope="col" className="caps px-3 text-right max-sm:hidden">
              Disagreed
            </th>
            <th
              scope="col"
              className="caps pl-3 text-right max-sm:hidden"
              title="How it is judged now: milliseconds of latency, and what lag, failures and doubt count; the lowest is followed"
            >
              Score
            </th>
          </tr>
        </thead>
        <tbody>
          {providers.map((provider, index) => (
            <tr key={index} className="h-row border-b border-line">
              <th scope="row" className="max-w-40 py-1 pr-3 text-left font-normal">
                <span className="data block truncate" title={provider.name}>
                  {provider.name}
                </span>
                {describeRole(provider, providers.length) !== '' && (
                  <span className="block text-12 break-words text-muted">
                    {describeRole(provider, providers.length)}
                  </span>
                )}
              </th>
              <td className="px-3 text-12">
                <Status condition={PROVIDER_CONDITIONS[provider.state]} />
              </td>
              <td
                className="data px-3 text-right"
                title={
                  best === null || provider.head === null
                    ? ''
                    : `${formatQuantity(best - provider.head, 'block')} behind the best`
                }
              >
                {provider.head === null ? '–' : formatCount(provider.head)}
              </td>
              <td className="data px-3 text-right">
                {provider.latencyMs === null ? '–' : formatDuration(provider.latencyMs)}
              </td>
              <td
                className={`data px-3 text-right max-sm:hidden ${provider.failures > 0 ? 'text-warn' : 'text-faint'}`}
              >
                {formatCount(provider.failures)}
              </td>
              <td
                className={`data px-3 text-right max-sm:hidden ${provider.disagreements > 0 ? 'text-bad' : 'text-faint'}`}
              >
                {formatCount(provider.disagreements)}
              </td>
              <td className="data pl-3 text-right max-sm:hidden">
                {formatCount(provider.score.total)}
                <span className="block text-12 text-muted">{describeScore(provider.score)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Which part a node plays beside the others, and what is wrong with it. */
function describeRole({ message, isFollowed, hasVoice }: ProviderHealth, nodes: number): string {
  if (message !== '') return message;
  if (nodes === 1) return '';
  if (!hasVoice) return 'not heard where nodes differ';
  return isFollowed ? 'followed' : '';
}

/** What it counts beside latency; empty of a node that nothing is held against. */
function describeScore({ lag, failures, doubt }: ProviderHealth['score']): string {
  const parts = Object.entries({ lag, failures, doubt }).filter(([, points]) => points > 0);
  return parts.map(([name, points]) => `${name} ${formatCount(points)}`).join(' · ');
}

function Agreement({
  agreement: { blockNumber, state },
  nodes,
}: {
  agreement: ChainAgreement;
  nodes: number;
}) {
  const block = `block ${formatCount(blockNumber)}`;
  const said: Record<ChainAgreement['state'], string> = {
    agreed: `A second node has the same ${block}.`,
    alone:
      nodes === 1
        ? `Nobody else was asked about ${block}: name a second node, and each new block is held against it.`
        : `No other node that is heard knows ${block} yet.`,
    outvoted: `Most nodes have this ${block}, and another has another one.`,
    disagreed: `Nodes have different blocks at ${formatCount(blockNumber)}: nothing is taken until they agree.`,
  };
  return (
    <p className={`mt-2 text-12 ${state === 'disagreed' ? 'text-bad' : 'text-muted'}`}>
      {said[state]}
    </p>
  );
}

/** One line of what happened to a chain. */
interface LogEntry {
  key: string;
  condition: Condition;
  what: string;
  /** Why; empty where that is all there is to say. */
  why: string;
  at: number;
}

/** What the service keeps of what happened to a chain, newest first. */
function ChainLog<Row>({
  title,
  none,
  query,
  toEntry,
}: {
  title: string;
  none: string;
  query: UseQueryOptions<Row[], Error, Row[], string[]>;
  toEntry: (row: Row) => LogEntry;
}) {
  const { data, error, refetch } = useQuery({ ...query, refetchInterval: NODES_REFRESH_MS });
  return (
    <div className="min-w-0">
      <h3 className="caps">{title}</h3>
      {error !== null && (
        <ErrorPanel
          what={`${title} could not be read`}
          error={error}
          onRetry={() => void refetch()}
          stale={data !== undefined}
        />
      )}
      {data === undefined && error === null && (
        <p className="animate-late text-12 text-faint">Loading</p>
      )}
      {data?.length === 0 && <p className="text-12 text-faint">{none}</p>}
      {data !== undefined && data.length > 0 && (
        <ul>
          {data
            .slice(0, SHOWN_ENTRIES)
            .map(toEntry)
            .map(({ key, condition, what, why, at }) => (
              <li key={key} className="flex flex-wrap items-baseline gap-x-4 py-1">
                <Status condition={condition} />
                <span className="data">{what}</span>
                <span className="data text-faint">{formatDateTime(at)}</span>
                {why !== '' && <p className="w-full text-12 break-words text-muted">{why}</p>}
              </li>
            ))}
        </ul>
      )}
    </div>
  );
}

function describeReorg({ blockNumber, depth, at }: Reorg): LogEntry {
  return {
    key: `${at} ${blockNumber}`,
    condition: { shape: 'cross', word: 'removed', tone: 'reorg' },
    what: `${formatQuantity(depth, 'block')} above ${formatCount(blockNumber)}`,
    why: '',
    at,
  };
}

function describeGap({ kind, from, to, reason, at, endedAt }: ChainGap): LogEntry {
  const what =
    to === null
      ? `before ${formatCount(from)}${endedAt === null ? '' : `, until ${formatDateTime(endedAt)}`}`
      : `${formatCount(from)}–${formatCount(to)}`;
  const condition = GAP_CONDITIONS[kind];
  const isOver = kind === 'halted' && endedAt !== null;
  return {
    key: `${at} ${kind} ${from}`,
    condition: isOver ? { ...condition, tone: 'muted' } : condition,
    what,
    why: reason,
    at,
  };
}

/** The way out of a halt; it leaves a hole behind, so it is asked for. */
function ResumeForm({ chain, onDone }: { chain: WatchedChain; onDone: () => void }) {
  const queryClient = useQueryClient();
  const [from, setFrom] = useState('');
  const isRight = from === '' || /^\d{1,15}$/.test(from);
  const resume = useMutation({
    mutationFn: () => sluice.resumeChain(chain.id, from === '' ? {} : { from: Number(from) }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: queryKeys.chains });
      onDone();
    },
  });
  return (
    <CallForm
      call={resume}
      ready={isRight}
      action="Resume chain"
      failed="The chain was not resumed"
    >
      <p>
        Blocks between {chain.checkpoint === null ? 'the last one' : formatCount(chain.checkpoint)}{' '}
        and the one you name are left out. Each stream keeps them as a hole, which a backfill fills.
      </p>
      <TextField
        label="From block"
        inputMode="numeric"
        mono
        help="Empty: from the head of the node."
        error={isRight ? undefined : 'A block is a whole number.'}
        value={from}
        onChange={(event) => setFrom(event.target.value)}
      />
    </CallForm>
  );
}
