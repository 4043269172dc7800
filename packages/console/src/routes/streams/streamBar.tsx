import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { Plus, RotateCw, X } from 'lucide-react';
import type { FleetStream } from '../../data/fleet.ts';
import { STREAM_SORTS, type StreamsSearch } from '../../data/search.ts';
import { Button, buttonClass, Keycap } from '../../ui/button.tsx';
import { Select } from '../../ui/form/field.tsx';
import { SearchField } from '../../ui/form/searchField.tsx';
import { STREAM_FILTERS } from './streamFilter.ts';
import { hasProblem } from './streamOrder.ts';

export type StreamsSearchChange = { [K in keyof StreamsSearch]: string | undefined };

/** Filters and sorts the list of streams, and acts on the selected rows. */
export function StreamBar({
  fleet,
  search: { q, show, sort },
  onSearch,
  field,
  marked,
  onUnmark,
  onReplay,
}: {
  fleet: readonly FleetStream[] | undefined;
  search: StreamsSearch;
  onSearch: (changes: StreamsSearchChange) => void;
  field: React.Ref<HTMLInputElement>;
  /** Number of selected rows. */
  marked: number;
  onUnmark: () => void;
  onReplay: () => void;
}) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-2">
      <fieldset aria-label="Show" className="flex gap-1">
        {STREAM_FILTERS.map(({ show: value, label, passes }) => (
          <button
            key={label}
            type="button"
            aria-pressed={show === value}
            onClick={() => {
              onSearch({ show: value });
            }}
            className="control flex items-center gap-1.5 rounded-control px-2 text-12 text-muted hover:text-text aria-pressed:bg-raised aria-pressed:text-text"
          >
            {label}
            <span
              className={clsx('data', label === 'Failing' && fleet?.some(hasProblem) && 'text-bad')}
            >
              {fleet?.filter(passes).length ?? '–'}
            </span>
          </button>
        ))}
      </fieldset>
      <Select
        aria-label="Sort streams"
        value={sort ?? ''}
        onChange={(event) => onSearch({ sort: event.target.value })}
      >
        <option value="">Problems, newest</option>
        {STREAM_SORTS.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </Select>
      <SearchField
        ref={field}
        label="Filter streams"
        value={q ?? ''}
        onChange={(value) => {
          onSearch({ q: value });
        }}
      />
      {marked > 0 && (
        <span className="flex gap-2">
          <Button aria-label={`${marked} selected, clear`} onClick={onUnmark}>
            <span className="data">{marked}</span> selected
            <X size={12} strokeWidth={1.5} aria-hidden="true" />
          </Button>
          <Button onClick={onReplay}>
            <RotateCw size={14} strokeWidth={1.5} aria-hidden="true" />
            Replay failed deliveries…
            <Keycap>r</Keycap>
          </Button>
        </span>
      )}
      <Link to="/streams/new" className={clsx(buttonClass('primary'), 'ml-auto')}>
        <Plus size={14} strokeWidth={1.5} aria-hidden="true" />
        New stream
        <kbd aria-hidden="true" className="font-mono text-11 pointer-coarse:hidden">
          n
        </kbd>
      </Link>
    </div>
  );
}
