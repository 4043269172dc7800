import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { chainsQuery } from '../../data/queries/chains.ts';
import { formatCount, formatHash, formatQuantity } from '../../ui/text/format.ts';
import { useShortcuts } from '../../ui/keys/keyboard.ts';
import { describePasted, recognize, toQuestion } from '../../words/paste.ts';
import { parseExplainSearch } from '../../data/search.ts';
import { Button, Keycap } from '../../ui/button.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Select } from '../../ui/form/field.tsx';
import { Answer } from './answer.tsx';
import { explainQuery } from './explainQuery.ts';

/** Explains for each stream why a webhook was or was not sent. */
export function ExplainPage() {
  const { q = '', chain } = useSearch({ from: '/frame/explain' });
  const explanation = useQuery({ ...explainQuery(q, chain), enabled: q !== '' });
  return (
    <div>
      <Question key={`${q} ${chain}`} asked={q} chain={chain} />
      {q === '' && <Examples />}
      {explanation.isError && (
        <ErrorPanel
          what="Couldn't load the explanation"
          error={explanation.error}
          onRetry={() => void explanation.refetch()}
          stale={explanation.data !== undefined}
        />
      )}
      {explanation.isFetching && explanation.data === undefined && (
        <p className="animate-late p-4 text-faint">Checking the chain and every stream</p>
      )}
      {explanation.data !== undefined && <Answer explanation={explanation.data} />}
    </div>
  );
}

function Question({ asked, chain }: { asked: string; chain: string | undefined }) {
  const { data: chains = [] } = useQuery(chainsQuery);
  const navigate = useNavigate({ from: '/explain' });
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(asked);
  const pasted = recognize(text);
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
            ? `${describePasted(pasted)}: paste a hash, block number, address or delivery ID instead`
            : describePasted(pasted))}
      </span>
    </form>
  );
}

const SHOWN_EXAMPLES = 3;

/**
 * Links to example queries: first the newest block with matches on each chain, then other blocks
 * with matches.
 */
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
        Paste a transaction hash, block hash, block number, address, ENS name or delivery ID.
        Delivery IDs can be shortened, as in lists. For each stream, the result shows the rule that
        decided the outcome.
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
