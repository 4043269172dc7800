import type { ProviderHealth } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { chainsQuery, queryKeys, reorgsQuery, sluice } from '../api.ts';
import { CHAIN_CONDITIONS, PROVIDER_CONDITIONS } from '../condition.ts';
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
import { Button } from '../ui/button.tsx';
import { CallForm } from '../ui/callForm.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorPanel } from '../ui/errorPanel.tsx';
import { TextField } from '../ui/field.tsx';
import { Status } from '../ui/status.tsx';

const TAPE_LENGTH = 60;
const NARROW_LENGTH = 34;
const SHOWN_REORGS = 5;
/** What is known of the nodes is told by no event but a change of the chain’s state. */
const NODES_REFRESH_MS = 5_000;

/** How each chain is followed: how far, from which nodes, and what stands in the way. */
export function ChainsPage() {
  const chains = useQuery({ ...chainsQuery, refetchInterval: NODES_REFRESH_MS });
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
      {chains.isPending && <p className="animate-late p-4 text-faint">Loading</p>}
      {chains.data?.length === 0 && (
        <div className="px-4 py-6">
          <p className="font-medium">No chain is watched</p>
          <p className="mt-1 text-muted">
            Name one when the service starts, with the URL of a node:
          </p>
          <p className="data mt-2">sluice serve --chain 0x1=https://…</p>
        </div>
      )}
      {chains.data?.map((chain) => (
        <Chain key={chain.id} chain={chain} />
      ))}
    </>
  );
}

function Chain({ chain }: { chain: WatchedChain }) {
  const [resuming, setResuming] = useState(false);
  const wide = useMedia('(min-width: 640px)');
  const length = wide ? TAPE_LENGTH : NARROW_LENGTH;
  const { id, name, state, message, head, checkpoint, confirmedUpTo, confirmations } = chain;
  const lag = head === null || checkpoint === null ? null : Math.max(0, head - checkpoint);
  return (
    <section aria-label={name} className="border-b border-line px-4 py-4">
      <div className="flex flex-wrap items-center gap-x-4">
        <h2 className="text-16 font-semibold">{name}</h2>
        <span className="data text-faint">{id}</span>
        <Status condition={CHAIN_CONDITIONS[state]} />
        {state === 'down' && (
          <Button className="ml-auto" onClick={() => setResuming(true)}>
            Resume from a block…
          </Button>
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
          <Figure label="final">
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
        </dl>
      </div>
      <Progress chain={chain} />
      <Providers providers={chain.providers} best={head} />
      <Reorgs chainId={id} />
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
            <th scope="col" className="caps pl-3 text-right max-sm:hidden">
              Disagreed
            </th>
          </tr>
        </thead>
        <tbody>
          {providers.map((provider, index) => (
            <tr key={index} className="h-8 border-b border-line">
              <th scope="row" className="max-w-40 py-1 pr-3 text-left font-normal">
                <span className="data block truncate" title={provider.name}>
                  {provider.name}
                </span>
                {provider.message !== '' && (
                  <span className="block text-12 break-words text-muted">{provider.message}</span>
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
                className={`data pl-3 text-right max-sm:hidden ${provider.disagreements > 0 ? 'text-bad' : 'text-faint'}`}
              >
                {formatCount(provider.disagreements)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Where the chain went another way, as the service has kept it. */
function Reorgs({ chainId }: { chainId: string }) {
  const { data: reorgs = [] } = useQuery({
    ...reorgsQuery(chainId),
    refetchInterval: NODES_REFRESH_MS,
  });
  if (reorgs.length === 0) return null;
  return (
    <div className="mt-3">
      <h3 className="caps">Reorgs</h3>
      <ul>
        {reorgs.slice(0, SHOWN_REORGS).map(({ blockNumber, depth, at }) => (
          <li key={`${at} ${blockNumber}`} className="flex flex-wrap items-center gap-x-4">
            <Status condition={{ shape: 'cross', word: 'removed', tone: 'reorg' }} />
            <span>{formatQuantity(depth, 'block')}</span>
            <span className="text-muted">
              above <span className="data">{formatCount(blockNumber)}</span>
            </span>
            <span className="data text-faint">{formatDateTime(at)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
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
