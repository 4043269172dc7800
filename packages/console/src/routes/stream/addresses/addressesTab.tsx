import type { StreamSummary } from '@sluice/kit/sluice';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Download, Trash2, Upload, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { addressesQuery } from '../../../data/queries/streams.ts';
import { queryKeys } from '../../../data/queries/service.ts';
import { formatCount, formatQuantity } from '../../../ui/text/format.ts';
import { useShortcuts } from '../../../ui/keys/keyboard.ts';
import { Button, Keycap } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { hasSources } from '../../../words/condition.ts';
import { nameOfStream } from '../../../words/names.ts';
import { Loading } from '../../../ui/loading.tsx';
import { SearchField } from '../../../ui/form/searchField.tsx';
import { useDebounced } from '../../../ui/form/debounced.ts';
import { TaskStrip, useTask } from '../../../ui/task.tsx';
import { download } from '../../../ui/text/download.ts';
import {
  exportTask,
  importedTask,
  readMatching,
  removalTask,
  setLabel,
  type LabeledRow,
} from './addressChange.ts';
import { AddressTable } from './addressTable.tsx';
import { ImportAddresses } from './importAddresses.tsx';
import { saveLabel } from './saveLabel.ts';
import { useSelection } from './selection.ts';
import { isTyping } from '../../../data/search.ts';

/** Lists, imports, exports, labels and removes the addresses of a stream. */
export function AddressesTab({ stream }: { stream: StreamSummary }) {
  const queryClient = useQueryClient();
  const { find = '' } = useSearch({ from: '/frame/streams/$streamId' });
  const navigate = useNavigate({ from: '/streams/$streamId' });
  const setFind = (text: string): void =>
    void navigate({
      search: { tab: 'addresses', ...(text !== '' && { find: text }) },
      replace: isTyping(find, text),
    });
  const sought = useDebounced(find.trim());
  const list = useInfiniteQuery(addressesQuery(stream.id, sought));
  const [importing, setImporting] = useState(false);
  const rows = list.data?.pages.flatMap(({ result }) => result) ?? [];
  const total = formatQuantity(stream.amountOfAddresses, 'address', 'addresses');
  const field = useRef<HTMLInputElement>(null);
  const refresh = async (): Promise<void> => {
    void queryClient.invalidateQueries({ queryKey: queryKeys.streams });
    await queryClient.invalidateQueries({ queryKey: queryKeys.addresses(stream.id) });
  };
  const { selected, select, selectAll, clear } = useSelection(sought, rows);
  const tasks = useTask();
  const isBusy = tasks.shown?.state === 'running';
  const remove = (removed: readonly LabeledRow[]): void => {
    clear();
    tasks.start(removalTask(stream, removed, refresh));
  };
  const findAll = (): void =>
    tasks.start({
      doing: 'Selecting addresses',
      total: sought === '' ? stream.amountOfAddresses : undefined,
      async work(step) {
        const all: LabeledRow[] = [];
        await readMatching(stream, sought, (page) => all.push(...page), step);
        selectAll(all);
      },
    });
  useShortcuts({ i: () => setImporting(true), '/': () => field.current?.focus() });

  return (
    <section aria-label="Addresses" className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-2">
        {stream.amountOfAddresses > 0 && (
          <SearchField ref={field} label="Find addresses" value={find} onChange={setFind} />
        )}
        <p className="data">
          {find === '' || !list.isSuccess
            ? total
            : list.hasNextPage
              ? `${formatCount(rows.length)} or more of ${total}`
              : `${formatCount(rows.length)} of ${total}`}
        </p>
        {stream.allAddresses && (
          <p className="text-warn">! The stream watches all addresses, not only the listed ones.</p>
        )}
        <span className="ml-auto flex flex-wrap justify-end gap-2">
          {selected.size > 0 && (
            <SelectedActions
              count={selected.size}
              isBusy={isBusy}
              onClear={clear}
              onRemove={() => remove([...selected.values()])}
            />
          )}
          {rows.length > 0 && (
            <>
              <Button variant="quiet" disabled={isBusy} onClick={findAll}>
                {sought === '' ? 'Select all' : 'Select all results'}
              </Button>
              <Button
                variant="quiet"
                disabled={isBusy}
                onClick={() =>
                  tasks.start(
                    exportTask(stream, sought, (file) =>
                      download(`${nameOfStream(stream)}-addresses.csv`, file, 'text/csv'),
                    ),
                  )
                }
              >
                <Download size={14} strokeWidth={1.5} aria-hidden="true" />
                {sought === '' ? 'Export CSV' : 'Export results as CSV'}
              </Button>
            </>
          )}
          <Button onClick={() => setImporting(true)}>
            <Upload size={14} strokeWidth={1.5} aria-hidden="true" />
            Import
            <Keycap>i</Keycap>
          </Button>
        </span>
      </div>
      <TaskStrip tasks={tasks} />
      {list.isError && (
        <ErrorPanel
          what="Couldn't load addresses"
          error={list.error}
          onRetry={() => void (rows.length > 0 ? list.fetchNextPage() : list.refetch())}
          stale={rows.length > 0}
        />
      )}
      {list.isPending && <Loading className="p-4" />}
      {list.isSuccess && rows.length === 0 && (
        <NoAddresses
          find={find}
          stream={stream}
          onShowAll={() => setFind('')}
          onImport={() => setImporting(true)}
        />
      )}
      {rows.length > 0 && (
        <AddressTable
          rows={rows}
          isNumbered={find === ''}
          isBusy={isBusy}
          selected={selected}
          onSelect={select}
          hasMore={list.hasNextPage && !list.isFetchingNextPage && !list.isError}
          onMore={() => void list.fetchNextPage()}
          onRemove={(row) => remove([row])}
          onLabel={({ address, label }, next) =>
            saveLabel(label, next, async (text) => {
              await setLabel(stream, { address, label: text });
              await refresh();
            })
          }
          chainId={stream.chainIds[0]}
        />
      )}
      {importing && (
        <Dialog title="Import addresses" wide onClose={() => setImporting(false)}>
          <ImportAddresses
            stream={stream}
            onDone={(imported) => {
              tasks.show(importedTask(stream, imported, refresh), imported.done);
              void refresh();
            }}
          />
        </Dialog>
      )}
    </section>
  );
}

function SelectedActions({
  count,
  isBusy,
  onClear,
  onRemove,
}: {
  count: number;
  isBusy: boolean;
  onClear: () => void;
  onRemove: () => void;
}) {
  return (
    <>
      <Button aria-label={`${formatCount(count)} selected, clear`} onClick={onClear}>
        <span className="data">{formatCount(count)}</span> selected
        <X size={12} strokeWidth={1.5} aria-hidden="true" />
      </Button>
      <Button disabled={isBusy} onClick={onRemove}>
        <Trash2 size={14} strokeWidth={1.5} aria-hidden="true" />
        Remove {formatQuantity(count, 'address', 'addresses')}
      </Button>
    </>
  );
}

function NoAddresses({
  find,
  stream,
  onShowAll,
  onImport,
}: {
  find: string;
  stream: StreamSummary;
  onShowAll: () => void;
  onImport: () => void;
}) {
  if (find !== '') {
    return (
      <div className="px-4 py-6">
        <p className="font-medium">No results</p>
        <p className="mt-1 wrap-anywhere text-muted">
          No address or label contains “{find}”. You can also search by the start and end of an
          address, such as 0x28C6…1d60.
        </p>
        <Button className="mt-3" onClick={onShowAll}>
          Show all addresses
        </Button>
      </div>
    );
  }
  return (
    <div className="px-4 py-6">
      <p className="font-medium">No addresses yet</p>
      <p className="mt-1 text-muted">
        {stream.allAddresses
          ? 'The stream watches all addresses and needs no list of them.'
          : hasSources(stream)
            ? 'The stream has other rules and needs no addresses.'
            : 'The stream matches nothing until you add an address.'}{' '}
        Import pasted text or a CSV file: one address per line, with an optional label.
      </p>
      <Button variant="primary" className="mt-3" onClick={onImport}>
        Import addresses
      </Button>
    </div>
  );
}
