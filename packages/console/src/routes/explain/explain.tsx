import type { Explanation, ExplainReason, StreamVerdict } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { chainsQuery } from '../../data/queries/chains.ts';
import {
  deliveryCondition,
  OUTCOME_CONDITIONS,
  VERDICT_CONDITIONS,
} from '../../words/condition.ts';
import { formatClock, formatCount, formatHash, formatQuantity } from '../../ui/text/format.ts';
import { useShortcuts } from '../../ui/keys/keyboard.ts';
import { toNodeFlag } from '../../words/nodeFlag.ts';
import { PASTED_WORDS, recognise, toQuestion } from '../../words/paste.ts';
import { formatMessage } from '../../words/messages.ts';
import { parseExplainSearch } from '../../data/search.ts';
import { Button, buttonClass, Keycap } from '../../ui/button.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Select } from '../../ui/form/field.tsx';
import { Hash } from '../../ui/text/hash.tsx';
import { Status, StatusShape } from '../../ui/status.tsx';
import { explainQuery } from './explainQuery.ts';
import { DateTime } from '../../ui/text/time.tsx';
import { ExplorerLink } from '../chains/explorerLink.tsx';

/** Shows for each stream whether a webhook was sent, and the rule that decided. */
export function ExplainPage() {
  const { q = '', chain } = useSearch({ from: '/frame/explain' });
  const answer = useQuery({ ...explainQuery(q, chain), enabled: q !== '' });
  return (
    <div>
      <Question key={`${q} ${chain}`} asked={q} chain={chain} />
      {q === '' && <Examples />}
      {answer.isError && (
        <ErrorPanel
          what="Couldn't load the explanation"
          error={answer.error}
          onRetry={() => void answer.refetch()}
          stale={answer.data !== undefined}
        />
      )}
      {answer.isFetching && answer.data === undefined && (
        <p className="animate-late p-4 text-faint">Checking the chain and every stream</p>
      )}
      {answer.data !== undefined && <Answer explanation={answer.data} />}
    </div>
  );
}

function Question({ asked, chain }: { asked: string; chain: string | undefined }) {
  const { data: chains = [] } = useQuery(chainsQuery);
  const navigate = useNavigate({ from: '/explain' });
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(asked);
  const pasted = recognise(text);
  const ask = (on: string | undefined): void => {
    void navigate({ search: parseExplainSearch({ q: text, chain: on }) });
  };
  useShortcuts({ '/': () => input.current?.focus() });
  return (
    <form
      className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-3"
      onSubmit={(event) => {
        event.preventDefault();
        ask(chain);
      }}
    >
      <span className="relative min-w-60 flex-1 sm:max-w-160">
        <input
          ref={input}
          type="search"
          aria-label="Transaction, block, address or delivery"
          placeholder="Transaction, block, address or delivery"
          spellCheck={false}
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="data control w-full rounded-control border border-line-strong bg-surface px-2.5 placeholder:text-faint"
        />
        {text === '' && (
          <span className="pointer-events-none absolute top-1/2 right-2 -translate-y-1/2">
            <Keycap>/</Keycap>
          </span>
        )}
      </span>
      {chains.length > 1 && (
        <Select
          aria-label="Chain"
          className="w-36"
          value={chain ?? ''}
          onChange={(event) => ask(event.target.value || undefined)}
        >
          <option value="">Any chain</option>
          {chains.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Select>
      )}
      <Button type="submit" variant="primary" disabled={text.trim() === ''}>
        Explain
      </Button>
      <span className="text-12 text-info">
        {pasted !== undefined &&
          text !== asked &&
          (toQuestion(pasted) === undefined
            ? `${PASTED_WORDS[pasted.kind]}: paste a hash, block, address or ID instead`
            : PASTED_WORDS[pasted.kind])}
      </span>
    </form>
  );
}

const SHOWN_EXAMPLES = 3;

/** Example queries: first the newest block with matches on each chain, then other recent blocks. */
function Examples() {
  const { data: chains = [] } = useQuery(chainsQuery);
  const examples = chains
    .flatMap((chain) =>
      chain.blocks
        .filter(({ matches }) => matches > 0)
        .toSorted((a, b) => b.timestamp - a.timestamp)
        .map((block, rank) => ({ chain, block, rank })),
    )
    .toSorted(
      (a, b) => Math.min(a.rank, 1) - Math.min(b.rank, 1) || b.block.timestamp - a.block.timestamp,
    )
    .slice(0, SHOWN_EXAMPLES);
  return (
    <div className="px-4 py-6">
      <p className="font-medium">Why was a webhook sent or not sent?</p>
      <p className="mt-1 text-muted">
        Paste a transaction hash, block hash, block number, address or delivery ID. IDs may be
        shortened as in lists. Each stream shows the rule that decided.
      </p>
      <ul className="mt-3">
        {examples.map(({ chain, block }) => (
          <li key={block.hash}>
            <Link
              to="/explain"
              search={{ q: block.hash, chain: chain.id }}
              className="data inline-flex min-h-7 items-center gap-3 text-accent hover:underline"
            >
              {chain.code} block {formatCount(block.number)}
              <span className="max-sm:hidden">{formatHash(block.hash)}</span>
              <span className="text-faint">{formatQuantity(block.matches, 'stream')} matched</span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Answer({ explanation }: { explanation: Explanation }) {
  const { kind, query, chainId, block, transactionHash, message, stages, streams } = explanation;
  const { data: chains = [] } = useQuery(chainsQuery);
  const chain = chains.find(({ id }) => id === chainId);
  const asked = recognise(query)?.kind;
  return (
    <>
      <section aria-label="Result" className="border-b border-line px-4 py-3">
        <p>{formatMessage(message, chains)}</p>
        <div className="mt-1 flex flex-wrap items-center gap-x-4 text-muted">
          {chainId !== null && (
            <span>
              {chain?.name} <span className="data text-faint">{chainId}</span>
            </span>
          )}
          {block !== null && (
            <>
              <span className="data">block {formatCount(block.number)}</span>
              <Hash value={block.hash} name="block hash" />
              {chainId !== null && (
                <ExplorerLink chainId={chainId} page="block" value={String(block.number)} />
              )}
              {block.timestamp !== null && (
                <span className="data text-faint">
                  <DateTime timeMs={block.timestamp * 1000} />
                </span>
              )}
            </>
          )}
          {transactionHash !== null && (
            <span className="inline-flex items-center gap-2">
              transaction <Hash value={transactionHash} name="transaction hash" />
              {chainId !== null && (
                <ExplorerLink chainId={chainId} page="transaction" value={transactionHash} />
              )}
            </span>
          )}
        </div>
        <Reasons reasons={stages} />
        {kind === 'unknown' && asked === 'block' && chainId === null && (
          <WhichChain query={query} />
        )}
        {(kind === 'unknown' ? asked === 'hash' : chainId !== null && chain === undefined) && (
          <HowToAdd />
        )}
      </section>
      <ul aria-label="Streams">
        {streams.map((verdict) => (
          <Verdict key={verdict.streamId} verdict={verdict} />
        ))}
      </ul>
      {streams.length === 0 && stages.length > 0 && (
        <p className="px-4 py-3 text-muted">No stream watches this chain.</p>
      )}
    </>
  );
}

/** Links to each chain, because block numbers are not unique across chains. */
function WhichChain({ query }: { query: string }) {
  const { data: chains = [] } = useQuery(chainsQuery);
  return (
    <ul aria-label="Possible chains" className="mt-2 flex flex-wrap gap-2">
      {chains.map(({ id, name }) => (
        <li key={id}>
          <Link
            to="/explain"
            search={{ q: query, chain: id }}
            activeProps={{}}
            className={buttonClass('plain')}
          >
            {name}
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Explains how to add a chain, because only configured chains are searched. */
function HowToAdd() {
  return (
    <p className="mt-2 text-muted">
      If it is on another chain, start the service with that chain:{' '}
      <code className="data">sluice serve {toNodeFlag('0x1', 'https://…')}</code>
    </p>
  );
}

/** Shows one stage per line, with the compared values. */
function Reasons({ reasons }: { reasons: readonly ExplainReason[] }) {
  const { data: chains = [] } = useQuery(chainsQuery);
  if (reasons.length === 0) return null;
  return (
    <ol className="mt-2">
      {reasons.map(({ stage, outcome, message }) => (
        <li
          key={`${stage} ${message}`}
          className="grid grid-cols-[16px_88px_minmax(0,1fr)] items-baseline"
        >
          <StatusShape condition={OUTCOME_CONDITIONS[outcome]} />
          <span className="text-12 text-faint">
            {stage}
            <span className="sr-only"> {OUTCOME_CONDITIONS[outcome].word}</span>
          </span>
          <span className={`break-words ${outcome === 'stopped' ? '' : 'text-muted'}`}>
            {formatMessage(message, chains)}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** Number of records shown at first, and added by each "Show more". */
const FIRST_RECORDS = 50;
const MORE_RECORDS = 100;

function Verdict({
  verdict: { streamId, tag, verdict, reason, stages, recordCount, records, deliveries },
}: {
  verdict: StreamVerdict;
}) {
  const [shown, setShown] = useState(FIRST_RECORDS);
  const { data: chains = [] } = useQuery(chainsQuery);
  return (
    <li className="border-b border-line">
      <details className="group">
        <summary className="grid min-h-9 cursor-pointer grid-cols-[120px_minmax(0,1fr)] items-center gap-x-4 gap-y-1 px-4 py-1.5 hover:bg-raised sm:grid-cols-[120px_200px_minmax(0,1fr)]">
          <Status condition={VERDICT_CONDITIONS[verdict]} />
          <span className="truncate font-medium">{tag || streamId}</span>
          <span className="min-w-0 break-words text-muted max-sm:col-span-2">
            {formatMessage(reason.message, chains)}
          </span>
        </summary>
        <div className="px-4 pb-4 sm:pl-38">
          <Reasons reasons={stages} />
          {records.length > 0 && (
            <>
              <h2 className="caps mt-3">Records</h2>
              <ul>
                {records
                  .slice(0, shown)
                  .map(({ kind, index, transactionHash, included, reasons }) => (
                    <li key={`${kind} ${index} ${transactionHash}`} className="mt-2">
                      <p className="flex flex-wrap items-center gap-x-3">
                        <Status
                          condition={
                            included
                              ? { shape: 'disc', word: 'in the webhook', tone: 'ok' }
                              : { shape: 'cross', word: 'excluded', tone: 'faint' }
                          }
                        />
                        <span>{RECORD_WORDS[kind]}</span>
                        <span className="data text-muted">{index}</span>
                        <Hash value={transactionHash} name="transaction hash" />
                      </p>
                      <Reasons reasons={reasons} />
                    </li>
                  ))}
              </ul>
              {records.length > shown ? (
                <Button className="mt-2" onClick={() => setShown(shown + MORE_RECORDS)}>
                  Show more ({formatCount(records.length - shown)} left)
                </Button>
              ) : (
                records.length < recordCount && (
                  <p className="mt-2 text-muted">
                    {formatCount(recordCount - records.length)} more. Open a delivery to see all of
                    its records.
                  </p>
                )
              )}
            </>
          )}
          {deliveries.length > 0 && (
            <>
              <h2 className="caps mt-3">Deliveries</h2>
              <ul>
                {deliveries.map((delivery) => (
                  <li key={delivery.id} className="flex flex-wrap items-center gap-x-4">
                    <Status condition={deliveryCondition(delivery)} />
                    <Link
                      to="/deliveries/$deliveryId"
                      params={{ deliveryId: delivery.id }}
                      className="data inline-flex min-h-7 items-center text-accent hover:underline"
                    >
                      {delivery.phase}, {formatClock(delivery.createdAt)}
                    </Link>
                    <span className="min-w-0 truncate text-muted">{delivery.error}</span>
                  </li>
                ))}
              </ul>
            </>
          )}
          <Link
            to="/streams/$streamId"
            params={{ streamId }}
            search={{ tab: 'rules' }}
            className="mt-3 inline-flex min-h-7 items-center text-accent hover:underline"
          >
            View the rules of {tag || streamId}
          </Link>
        </div>
      </details>
    </li>
  );
}

const RECORD_WORDS = {
  log: 'log',
  transaction: 'transaction',
  internalTransaction: 'internal transaction',
} as const;
