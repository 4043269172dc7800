import type { StreamSummary } from '@sluice/kit/sluice';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Upload } from 'lucide-react';
import { useRef, useState } from 'react';
import { addressesQuery } from '../../../data/queries/streams.ts';
import { client } from '../../../data/client.ts';
import { queryKeys } from '../../../data/queries/service.ts';
import { formatCount, formatQuantity } from '../../../ui/text/format.ts';
import { useShortcuts } from '../../../ui/keys/keyboard.ts';
import { Button, Keycap } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { SearchField } from '../../../ui/form/searchField.tsx';
import { useRested } from '../../../ui/form/rested.ts';
import { AddressTable } from './addressTable.tsx';
import { ImportAddresses } from './importAddresses.tsx';
import { isTyping } from '../../../data/search.ts';

/** Lists, imports and removes the addresses of a stream. */
export function AddressesTab({ stream }: { stream: StreamSummary }) {
  const queryClient = useQueryClient();
  const { find = '' } = useSearch({ from: '/frame/streams/$streamId' });
  const navigate = useNavigate({ from: '/streams/$streamId' });
  const setFind = (text: string): void =>
    void navigate({
      search: { tab: 'addresses', ...(text !== '' && { find: text }) },
      replace: isTyping(find, text),
    });
  const list = useInfiniteQuery(addressesQuery(stream.id, useRested(find.trim())));
  const [importing, setImporting] = useState(false);
  const rows = list.data?.pages.flatMap(({ result }) => result) ?? [];
  const total = formatQuantity(stream.amountOfAddresses, 'address', 'addresses');
  const field = useRef<HTMLInputElement>(null);
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
        {stream.allAddresses && <p className="text-warn">! also watches all other addresses</p>}
        <Button className="ml-auto" onClick={() => setImporting(true)}>
          <Upload size={14} strokeWidth={1.5} aria-hidden="true" />
          Import
          <Keycap>i</Keycap>
        </Button>
      </div>
      {list.isError && (
        <ErrorPanel
          what="Couldn't load addresses"
          error={list.error}
          onRetry={() => void (rows.length > 0 ? list.fetchNextPage() : list.refetch())}
          stale={rows.length > 0}
        />
      )}
      {remove.isError && (
        <ErrorPanel
          what="Couldn't remove the address"
          error={remove.error}
          onRetry={() => remove.mutate(remove.variables)}
        />
      )}
      {list.isPending && <Loading className="p-4" />}
      {list.isSuccess && rows.length === 0 && find !== '' && (
        <div className="px-4 py-6">
          <p className="font-medium">No results</p>
          <p className="mt-1 wrap-anywhere text-muted">
            No address or label contains “{find}”. You can also search by both ends, as in
            0x28C6…1d60.
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
              ? 'The stream takes events from every contract and needs no addresses.'
              : 'The stream matches nothing until you add one.'}{' '}
            Paste addresses or drop a CSV file, one per line, with an optional label.
          </p>
          <Button variant="primary" className="mt-3" onClick={() => setImporting(true)}>
            Import addresses
          </Button>
        </div>
      )}
      {rows.length > 0 && (
        <AddressTable
          rows={rows}
          isNumbered={find === ''}
          removing={remove.isPending ? remove.variables : undefined}
          hasMore={list.hasNextPage && !list.isFetchingNextPage && !list.isError}
          onMore={() => void list.fetchNextPage()}
          onRemove={remove.mutate}
          chainId={stream.chainIds[0]}
        />
      )}
      {importing && (
        <Dialog title="Import addresses" wide onClose={() => setImporting(false)}>
          <ImportAddresses stream={stream} onDone={refresh} />
        </Dialog>
      )}
    </section>
  );
}
