import type { StreamSummary } from '@sluice/kit/sluice';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Trash2, Upload } from 'lucide-react';
import { useRef, useState } from 'react';
import { addressesQuery, client, queryKeys } from '../../api.ts';
import { formatCount, formatHash, formatQuantity } from '../../format.ts';
import { useShortcuts } from '../../keyboard.ts';
import { useRowPx } from '../../settings.ts';
import { Button, Keycap } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copyButton.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorPanel } from '../../ui/errorPanel.tsx';
import { useRowWindow } from '../../ui/rowWindow.ts';
import { SearchField } from '../../ui/searchField.tsx';
import { useRested } from '../../rested.ts';
import { ImportAddresses } from './importAddresses.tsx';

/** Whom the stream watches; a list of any length. */
export function AddressesTab({ stream }: { stream: StreamSummary }) {
  const queryClient = useQueryClient();
  const { find = '' } = useSearch({ from: '/frame/streams/$streamId' });
  const navigate = useNavigate({ from: '/streams/$streamId' });
  const setFind = (text: string): void =>
    void navigate({
      search: { tab: 'addresses', ...(text !== '' && { find: text }) },
      replace: true,
    });
  const list = useInfiniteQuery(addressesQuery(stream, useRested(find.trim())));
  const [importing, setImporting] = useState(false);
  const rows = list.data?.pages.flatMap(({ result }) => result) ?? [];
  const field = useRef<HTMLInputElement>(null);
  const {
    scroller,
    list: ofRows,
    first,
    end,
    style,
  } = useRowWindow<HTMLDivElement, HTMLUListElement>(rows.length, useRowPx());
  const refresh = (): void => {
    void queryClient.invalidateQueries({ queryKey: queryKeys.addresses(stream.id) });
    void queryClient.invalidateQueries({ queryKey: queryKeys.streams });
  };
  const remove = useMutation({
    mutationFn: (address: string) =>
      client.streams.removeAddress(stream.id, address, { networkType: stream.family }),
    onSettled: refresh,
  });
  useShortcuts({ i: () => setImporting(true), '/': () => field.current?.focus() });

  // The next page is asked for as soon as the end of this one comes near.
  const wantsMore = rows.length > 0 && end >= rows.length - 20;
  if (wantsMore && list.hasNextPage && !list.isFetchingNextPage && !list.isError) {
    void list.fetchNextPage();
  }

  return (
    <section aria-label="Addresses" className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-2">
        {stream.amountOfAddresses > 0 && (
          <SearchField ref={field} label="Find addresses" value={find} onChange={setFind} />
        )}
        <p className="data">
          {find !== '' &&
            list.isSuccess &&
            `${formatCount(rows.length)}${list.hasNextPage ? ' or more' : ''} of `}
          {formatQuantity(stream.amountOfAddresses, 'address', 'addresses')}
        </p>
        {stream.allAddresses && <p className="text-warn">! watches all the others, too</p>}
        <Button className="ml-auto" onClick={() => setImporting(true)}>
          <Upload size={14} strokeWidth={1.5} aria-hidden="true" />
          Import
          <Keycap>i</Keycap>
        </Button>
      </div>
      {list.isError && (
        <ErrorPanel
          what="The addresses could not be read"
          error={list.error}
          onRetry={() => void (rows.length > 0 ? list.fetchNextPage() : list.refetch())}
          stale={rows.length > 0}
        />
      )}
      {remove.isError && (
        <ErrorPanel
          what="The address was not removed"
          error={remove.error}
          onRetry={() => remove.mutate(remove.variables)}
        />
      )}
      {list.isPending && <p className="animate-late p-4 text-faint">Loading</p>}
      {list.isSuccess && rows.length === 0 && find !== '' && (
        <div className="px-4 py-6">
          <p className="font-medium">Nothing found</p>
          <p className="mt-1 wrap-anywhere text-muted">
            “{find}” is in no address and in no label. Ends are found, too, as in 0x28C6…1d60.
          </p>
          <Button className="mt-3" onClick={() => setFind('')}>
            Show all addresses
          </Button>
        </div>
      )}
      {list.isSuccess && rows.length === 0 && find === '' && (
        <div className="px-4 py-6">
          <p className="font-medium">No addresses yet</p>
          <p className="mt-1 text-muted">
            {stream.allAddresses
              ? 'It needs none: it takes its events from every contract.'
              : 'Until it has one, the stream matches nothing.'}{' '}
            Paste them, or drop a CSV file: one to a line, with a label after it if you like.
          </p>
          <Button look="primary" className="mt-3" onClick={() => setImporting(true)}>
            Import addresses
          </Button>
        </div>
      )}
      <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto">
        <ul ref={ofRows} style={style}>
          {rows.slice(first, end).map((row, index) => (
            <li
              key={row.address}
              className="flex h-row items-center gap-3 border-b border-line px-4 hover:bg-raised"
            >
              <span className="data w-12 shrink-0 text-right text-faint max-sm:hidden">
                {find === '' && formatCount(first + index + 1)}
              </span>
              <span className="data min-w-0 truncate" title={row.address}>
                <span className="max-sm:hidden">{row.address}</span>
                <span className="sm:hidden">{formatHash(row.address, 6)}</span>
              </span>
              <span className="min-w-0 truncate font-medium max-sm:ml-auto">{row.label}</span>
              <span className="ml-auto flex shrink-0">
                <CopyButton text={row.address} label={`Copy ${row.address}`} iconOnly />
                <Button
                  look="quiet"
                  square
                  aria-label={`Stop watching ${row.label || row.address}`}
                  title="Stop watching"
                  disabled={remove.isPending && remove.variables === row.address}
                  onClick={() => remove.mutate(row.address)}
                >
                  <Trash2 size={14} strokeWidth={1.5} aria-hidden="true" />
                </Button>
              </span>
            </li>
          ))}
        </ul>
      </div>
      {importing && (
        <Dialog title="Import addresses" wide onClose={() => setImporting(false)}>
          <ImportAddresses stream={stream} onDone={refresh} />
        </Dialog>
      )}
    </section>
  );
}
