import type { StreamSummary } from '@sluice/kit/sluice';
import { ListFilter as FilterIcon, Pause, Play, RotateCw, X } from 'lucide-react';
import { DELIVERY_CONDITIONS, PHASE_CONDITIONS } from '../../../words/condition.ts';
import { RESULT_WORDS } from '../../../words/attemptResults.ts';
import type { CountedField } from './filterChoices.ts';
import { formatCount, formatDateTime, formatDuration, formatId } from '../../../ui/text/format.ts';
import { ATTEMPT_RANGES, SINCES, type DeliveriesSearch } from '../../../data/search.ts';
import { nameOfDestination } from '../../../words/destinations.ts';
import { nameOfStreamId } from '../../../words/names.ts';
import type { WatchedChain } from '../../../chains/timeline.ts';
import { ActionWord } from './actionWord.tsx';
import { SearchInput } from './searchInput.tsx';
import { Button, Keycap } from '../../../ui/button.tsx';

type FilterName =
  | CountedField
  | 'blockFrom'
  | 'blockTo'
  | 'q'
  | 'body'
  | 'triedFrom'
  | 'triedUntil'
  | 'tookFrom'
  | 'tookUntil'
  | 'result'
  | 'receiver'
  | 'from'
  | 'until'
  | 'replay';

/** Returns the search param and a description of each active filter. */
function chosenOf(
  search: DeliveriesSearch,
  streams: readonly StreamSummary[],
  stream: StreamSummary | undefined,
  chains: readonly WatchedChain[],
): [FilterName, string][] {
  const words: Record<FilterName, string | undefined> = {
    state: search.state && DELIVERY_CONDITIONS[search.state].word,
    status: search.status === 'none' ? 'no response' : search.status,
    // The stream may no longer exist: deliveries remain after their stream is deleted.
    stream: search.stream && nameOfStreamId(search.stream, streams),
    destination:
      search.destination === undefined
        ? undefined
        : `destination ${nameOfDestination(search.destination, stream)}`,
    chain: search.chain && (chains.find(({ id }) => id === search.chain)?.name ?? search.chain),
    phase: search.phase && PHASE_CONDITIONS[search.phase].word,
    reorged:
      search.reorged === undefined
        ? undefined
        : search.reorged
          ? 'block left the chain'
          : 'still on the chain',
    attempts: ATTEMPT_RANGES.find(({ value }) => value === search.attempts)?.label,
    since: search.since && `last ${SINCES.find(({ value }) => value === search.since)?.label}`,
    blockFrom:
      search.blockFrom === undefined ? undefined : `from block ${formatCount(search.blockFrom)}`,
    blockTo: search.blockTo === undefined ? undefined : `to block ${formatCount(search.blockTo)}`,
    q: search.q && `“${search.q}”`,
    body: search.body && `body: ${search.body}`,
    triedFrom:
      search.triedFrom === undefined
        ? undefined
        : `attempted from ${formatDateTime(search.triedFrom)}`,
    triedUntil:
      search.triedUntil === undefined
        ? undefined
        : `attempted until ${formatDateTime(search.triedUntil)}`,
    tookFrom:
      search.tookFrom === undefined ? undefined : `took ≥ ${formatDuration(search.tookFrom)}`,
    tookUntil:
      search.tookUntil === undefined ? undefined : `took ≤ ${formatDuration(search.tookUntil)}`,
    result: search.result && `attempt: ${RESULT_WORDS[search.result]}`,
    receiver: search.receiver && `to ${search.receiver}`,
    from: search.from === undefined ? undefined : `created from ${formatDateTime(search.from)}`,
    until: search.until === undefined ? undefined : `created until ${formatDateTime(search.until)}`,
    replay: search.replay && `last sent by replay ${formatId(search.replay)}`,
  };
  return (Object.entries(words) as [FilterName, string | undefined][]).flatMap(([name, word]) =>
    word === undefined ? [] : [[name, word] as [FilterName, string]],
  );
}

/** Shows the search field, the active filters, and the actions of the list. */
export function DeliveryFilters({
  search,
  streams,
  stream,
  chains,
  onRemove,
  onSearch,
  onFilter,
  marked,
  onUnmark,
  held,
  onHold,
  onReplay,
  children,
}: {
  search: DeliveriesSearch;
  streams: readonly StreamSummary[];
  /** The only stream whose deliveries are listed; undefined if there are several. */
  stream: StreamSummary | undefined;
  chains: readonly WatchedChain[];
  onRemove: (name: FilterName) => void;
  /** Searches for the text; an empty string ends the search. Null if the list is of an address. */
  onSearch: ((text: string) => void) | null;
  /** Opens the filters; null if they are next to the list. */
  onFilter: (() => void) | null;
  /** Number of selected rows. */
  marked: number;
  onUnmark: () => void;
  held: boolean;
  onHold: (held: boolean) => void;
  /**
   * Replays the selected rows or, without any, all deliveries that match the filter. Null if no
   * rows are selected and the filter is empty or a search.
   */
  onReplay: (() => void) | null;
  /** Additional buttons. */
  children?: React.ReactNode;
}) {
  const chosen = chosenOf(search, streams, stream, chains);
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-1.5">
      {onFilter !== null && (
        <Button onClick={onFilter}>
          <FilterIcon size={14} strokeWidth={1.5} aria-hidden="true" />
          Filter
          <Keycap>/</Keycap>
        </Button>
      )}
      {onSearch !== null && (
        <SearchInput key={search.q} text={search.q ?? ''} onSearch={onSearch} />
      )}
      <span className="flex min-w-0 flex-[1_1_6rem] flex-wrap items-center gap-1.5 @min-[560px]/explorer:order-1 @min-[560px]/explorer:basis-full @min-[900px]/explorer:order-none @min-[900px]/explorer:basis-0">
        {chosen.length === 0 && <span className="text-12 text-faint">All deliveries</span>}
        {chosen.map(([name, word]) => (
          <Button
            key={name}
            className="max-w-[min(15rem,100%)] min-w-0"
            aria-label={`${word}, remove`}
            onClick={() => onRemove(name)}
          >
            <span className="min-w-0 truncate">{word}</span>
            <X size={12} strokeWidth={1.5} aria-hidden="true" className="shrink-0" />
          </Button>
        ))}
        {marked > 0 && (
          <Button aria-label={`${marked} selected, clear`} onClick={onUnmark}>
            <span className="data">{marked}</span> selected
            <X size={12} strokeWidth={1.5} aria-hidden="true" />
          </Button>
        )}
      </span>
      <span className="flex shrink-0 gap-1">
        {children}
        <Button
          variant="quiet"
          disabled={onReplay === null}
          data-tip={
            onReplay === null
              ? "Select deliveries or set a filter first. Searches and times of attempts can't be replayed."
              : 'Replay deliveries'
          }
          onClick={() => onReplay?.()}
        >
          <RotateCw size={14} strokeWidth={1.5} aria-hidden="true" />
          <ActionWord keycap="r" isKept={marked > 0}>
            {marked > 0 ? `Replay ${marked}…` : 'Replay…'}
          </ActionWord>
        </Button>
        <Button
          variant="quiet"
          data-tip={held ? 'Show new rows as they arrive' : 'Stop adding new rows'}
          onClick={() => onHold(!held)}
        >
          {held ? (
            <Play size={14} strokeWidth={1.5} aria-hidden="true" />
          ) : (
            <Pause size={14} strokeWidth={1.5} aria-hidden="true" />
          )}
          <ActionWord keycap="l">{held ? 'Resume updates' : 'Pause updates'}</ActionWord>
        </Button>
      </span>
    </div>
  );
}
