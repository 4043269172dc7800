/** State of the explorer, and the actions of its keys and buttons. */
import type { DeliveryFilter } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { useState, type RefObject } from 'react';
import { findRow, isSearch } from '../../data/live/liveCache.ts';
import { chainsQuery } from '../../data/queries/chains.ts';
import { toDeliveryFilter } from '../../data/queries/deliveries.ts';
import { streamsQuery } from '../../data/queries/streams.ts';
import {
  parseDeliveriesSearch,
  withoutUndefined,
  toListFilter,
  type DeliveriesSearch,
} from '../../data/search.ts';
import { focusedRow } from '../../ui/keys/actionList.tsx';
import { useShortcuts } from '../../ui/keys/keyboard.ts';
import { useRowMarks } from '../../ui/list/rowMarks.tsx';
import { useFilterPane } from './filters/filterPane.tsx';
import { useDeliveryList } from './list/deliveryList.ts';
import type { DeliveryTableHandle } from './list/deliveryTable.tsx';
import { useHeldList } from './list/heldList.ts';
import { useListPlace } from './list/listPlace.ts';
import { useOpenDelivery } from './list/openDelivery.ts';
import { useRowActions } from './list/rowActions.tsx';
import { useRowCursor } from './list/rowCursor.ts';

/** Filter that limits the list to one stream, one replay or one address (`q`). */
export type Scope = Pick<DeliveriesSearch, 'stream' | 'replay' | 'q'>;

export function useExplorer({
  search,
  onSearch,
  of,
  table,
}: {
  search: DeliveriesSearch;
  onSearch: (search: DeliveriesSearch, replace: boolean) => void;
  of: Scope;
  table: RefObject<DeliveryTableHandle | null>;
}) {
  const { sel, view: _view, until, ...ofList } = search;
  const filter = toListFilter({ ...search, ...of });
  const filterSearch = { ...ofList, ...of };
  const { data: streams = [] } = useQuery(streamsQuery);
  const stream = streams.find(({ id }) => id === filter.streamId);
  const { data: chains = [] } = useQuery(chainsQuery);
  const { list, rows, pairOf, isSearching } = useDeliveryList(filter);
  const { shown, ...held } = useHeldList({
    of: JSON.stringify(filter),
    rows,
    isLoaded: list.isSuccess,
    isInspecting: sel !== undefined,
    table,
  });
  const filterPane = useFilterPane(sel !== undefined);

  const change = (
    changes: { [K in keyof DeliveriesSearch]: string | undefined },
    replace: boolean,
  ): void => onSearch(parseDeliveriesSearch({ ...search, ...of, ...changes }), replace);
  /**
   * Prepares the list for another filter: clears the cursor and the selected rows, closes the
   * filter dialog, and scrolls to the top.
   */
  const beginAnew = (): void => {
    cursor.clear();
    clearMarks();
    filterPane.close();
    table.current?.scrollToTop();
  };
  const goTo = (
    range: { from?: number | undefined; until: number | undefined },
    replace = false,
  ): void => {
    beginAnew();
    onSearch(withoutUndefined<DeliveriesSearch>({ ...search, ...range }), replace);
  };
  const close = (): void => {
    if (sel !== undefined) table.current?.focusRow(sel);
    change({ sel: undefined, view: undefined }, false);
  };

  const newer = useListPlace({
    filter,
    rows,
    isRead: list.isSuccess,
    selected: sel,
    scrollToRow: (id) => table.current?.scrollToRow(id),
    onUntil: (until, how) => goTo({ until }, how === 'placed'),
  });
  const cursor = useRowCursor({
    shown,
    selected: sel,
    table,
    onSelect: (id) => change({ sel: id }, true),
    onAbove: () => {
      if (until !== undefined) newer.mutate();
      else if (held.waiting > 0) held.showNewest();
    },
  });
  const {
    marks,
    onMark,
    clear: clearMarks,
  } = useRowMarks({ rows: shown, current: () => cursor.current, move: cursor.move });
  const { open, hrefOf } = useOpenDelivery();
  /**
   * Filter of the deliveries to replay; null while the dialog is closed. It is fixed when the
   * dialog opens, so that later changes of the list do not apply.
   */
  const [replaying, setReplaying] = useState<DeliveryFilter | null>(null);
  // A replay cannot filter by search text or time of an attempt, so a search needs selected rows.
  const mayReplay = (Object.keys(filter).length > 0 && !isSearch(filter)) || marks.size > 0;
  const replay = mayReplay
    ? () => setReplaying(marks.size > 0 ? { id: [...marks] } : toDeliveryFilter(filter))
    : null;
  useShortcuts({
    j: () => void cursor.move(1),
    k: () => void cursor.move(-1),
    l: () => held.hold(!held.held),
    r: () => {
      if (sel !== undefined) return false;
      replay?.();
      return true;
    },
    '/': filterPane.focus,
    Escape: () => {
      if (sel !== undefined) close();
      else if (marks.size > 0) clearMarks();
      else return false;
      return true;
    },
  });
  const actions = useRowActions({
    // While a delivery is open, the inspector provides the actions.
    focused: () => (sel === undefined ? findRow(shown, focusedRow()) : undefined),
    ofList: filterSearch,
    marks,
    onOpen: open,
    onMark,
    onReplay: replay,
  });
  return {
    filter,
    filterSearch,
    streams,
    stream,
    chains,
    list,
    rows,
    pairOf,
    isSearching,
    shown,
    held,
    filterPane,
    newer,
    marks,
    onMark,
    clearMarks,
    open,
    hrefOf,
    actions,
    replay,
    replaying,
    endReplaying: () => setReplaying(null),
    change,
    beginAnew,
    goTo,
    close,
  };
}
