import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { X } from 'lucide-react';
import { useState } from 'react';
import type { DeliveriesSearch } from '../../../data/search.ts';
import { Button } from '../../../ui/button.tsx';
import { setSavedViews, useSavedViews } from '../../../ui/preferences.ts';
import {
  isSameView,
  MAX_VIEW_NAME,
  parseViews,
  toViewSearch,
  withView,
  type SavedView,
} from './savedViews.ts';

/** Lists the saved views as links, and saves the current filter as a view. */
export function ViewList({
  search,
  onChoose,
}: {
  /** The current filter, including the stream or replay of the page. */
  search: DeliveriesSearch;
  /** Called before a view opens. */
  onChoose: () => void;
}) {
  const views = parseViews(useSavedViews());
  const keep = (next: readonly SavedView[]): void => setSavedViews(JSON.stringify(next));
  const [name, setName] = useState<string | null>(null);
  const isFiltered = Object.keys(toViewSearch(search)).length > 0;
  const isSaved = views.some((view) => isSameView(view.search, search));
  if (views.length === 0 && !isFiltered) return null;
  return (
    <section aria-label="Saved views" className="pt-3">
      <h2 className="caps px-4 pb-0.5">Saved views</h2>
      <ul>
        {views.map((view) => {
          const isCurrent = isSameView(view.search, search);
          return (
            <li key={view.name} className="flex items-center hover:bg-raised">
              <Link
                to="/deliveries"
                search={view.search}
                activeOptions={{ exact: true, includeSearch: true }}
                aria-current={isCurrent || undefined}
                onClick={onChoose}
                className={clsx(
                  'flex min-h-6 min-w-0 flex-1 items-center py-0.5 pl-4 text-12 pointer-coarse:min-h-11',
                  isCurrent
                    ? 'bg-raised font-medium shadow-[inset_2px_0_var(--color-accent)]'
                    : 'text-muted',
                )}
              >
                <span data-cut className="truncate">
                  {view.name}
                </span>
              </Link>
              <Button
                variant="quiet"
                square
                aria-label={`Remove view ${view.name}`}
                data-tip="Remove view"
                onClick={() => keep(views.filter((each) => each !== view))}
              >
                <X size={12} strokeWidth={1.5} aria-hidden="true" />
              </Button>
            </li>
          );
        })}
      </ul>
      {isFiltered && !isSaved && name === null && (
        <Button variant="quiet" className="ml-2" onClick={() => setName('')}>
          Save view
        </Button>
      )}
      {name !== null && (
        <form
          aria-label="Save view"
          className="flex gap-1 px-4 pt-1"
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim() === '') return;
            keep(withView(views, { name: name.trim(), search: toViewSearch(search) }));
            setName(null);
          }}
        >
          <input
            aria-label="View name"
            placeholder="Name"
            // oxlint-disable-next-line jsx-a11y/no-autofocus -- the button that had the focus is replaced
            autoFocus
            required
            maxLength={MAX_VIEW_NAME}
            value={name}
            onChange={(event) => setName(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Escape') return;
              event.preventDefault();
              setName(null);
            }}
            className="control min-w-0 flex-1 rounded-control border border-line-strong bg-surface px-2 text-12 placeholder:text-faint"
          />
          <Button type="submit">Save</Button>
        </form>
      )}
    </section>
  );
}
