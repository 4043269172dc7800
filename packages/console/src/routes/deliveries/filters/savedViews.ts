/** Saved views: filters of the delivery list that the user saved under a name. */
import {
  parseDeliveriesSearch,
  withoutUndefined,
  type DeliveriesSearch,
} from '../../../data/search.ts';

export interface SavedView {
  name: string;
  search: DeliveriesSearch;
}

export const MAX_VIEWS = 50;
export const MAX_VIEW_NAME = 60;

/** Drops the open delivery and the inspector's tab, which are not part of a view. */
export const toViewSearch = (search: DeliveriesSearch): DeliveriesSearch =>
  withoutUndefined<DeliveriesSearch>({ ...search, sel: undefined, view: undefined });

/** Parses the stored views, and drops invalid ones. */
export function parseViews(text: string): SavedView[] {
  let stored: unknown;
  try {
    stored = JSON.parse(text);
  } catch {
    return [];
  }
  if (!Array.isArray(stored)) return [];
  return stored.slice(0, MAX_VIEWS).flatMap((each: unknown) => {
    const { name, search } = (each ?? {}) as Partial<Record<keyof SavedView, unknown>>;
    if (typeof name !== 'string' || typeof search !== 'object' || search === null) return [];
    const parsed = parseDeliveriesSearch(search as Record<string, unknown>);
    return [{ name: name.slice(0, MAX_VIEW_NAME), search: toViewSearch(parsed) }];
  });
}

/**
 * Adds a view, or replaces the view of the same name, and sorts the views by name. Beyond
 * `MAX_VIEWS`, drops the first view.
 */
export const withView = (views: readonly SavedView[], view: SavedView): SavedView[] =>
  [...views.filter(({ name }) => name !== view.name), view]
    .slice(-MAX_VIEWS)
    .toSorted((a, b) => a.name.localeCompare(b.name));

export const isSameView = (a: DeliveriesSearch, b: DeliveriesSearch): boolean => {
  const textOf = (search: DeliveriesSearch): string =>
    JSON.stringify(
      Object.entries(toViewSearch(search)).toSorted(([one], [other]) => (one < other ? -1 : 1)),
    );
  return textOf(a) === textOf(b);
};
