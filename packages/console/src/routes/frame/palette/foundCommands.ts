/** Looks up deliveries and addresses that the palette's text names. */
import type { DeliverySummary } from '@sluice/kit/sluice';
import { findDeliveryIds } from '@sluice/kit/operator';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { streamsQuery } from '../../../data/queries/streams.ts';
import { sluice } from '../../../data/queries/service.ts';
import { useDebounced } from '../../../ui/form/debounced.ts';
import { formatHash, formatQuantity } from '../../../ui/text/format.ts';
import { nameOfStream } from '../../../words/names.ts';
import type { Pasted } from '../../../words/pasted.ts';
import type { Command } from './command.ts';
import { isDeliveryStart, isLabelLike } from './foundText.ts';

/** Maximum number of streams whose addresses are searched; each needs a request. */
const MAX_STREAMS = 20;
const MAX_FOUND = 5;

const transactionQuery = (transactionHash: string) =>
  queryOptions({
    queryKey: ['palette', 'transaction', transactionHash],
    queryFn: async ({ signal }): Promise<DeliverySummary[]> => {
      const page = await sluice.listDeliveries({ transactionHash, limit: 100 }, { signal });
      return page.result;
    },
    retry: false,
    staleTime: 0,
  });

const idQuery = (start: string) =>
  queryOptions({
    queryKey: ['palette', 'delivery', start],
    queryFn: async () => (await findDeliveryIds(sluice, start)).slice(0, MAX_FOUND),
    retry: false,
    staleTime: 0,
  });

interface Found {
  streamId: string;
  address: string;
  label: string | undefined;
}

const addressQuery = (find: string, streamIds: readonly string[]) =>
  queryOptions({
    queryKey: ['palette', 'addresses', find, streamIds],
    queryFn: async ({ signal }): Promise<Found[]> => {
      const pages = await Promise.all(
        streamIds.map(async (streamId) => {
          const page = await sluice.listAddresses(streamId, { find, limit: 2 }, { signal });
          return page.result.map(({ address, label }) => ({ streamId, address, label }));
        }),
      );
      return pages.flat().slice(0, MAX_FOUND);
    },
    retry: false,
    staleTime: 0,
  });

/**
 * Returns commands for the deliveries and addresses that the text names.
 *
 * @returns the commands, and `isPending`, which is true while a pasted hash is looked up. The
 * palette keeps pressed keys during this time, so that Enter opens the delivery that is found.
 */
export function useFoundCommands(
  text: string,
  pasted: Pasted | undefined,
): { commands: Command[]; isPending: boolean } {
  const navigate = useNavigate();
  const { data: streams = [] } = useQuery(streamsQuery);
  const hash = pasted?.kind === 'hash' ? pasted.hash : '';
  const ofTransaction = useQuery({ ...transactionQuery(hash), enabled: hash !== '' });

  const rested = useDebounced(text.trim());
  const start = isDeliveryStart(rested) && rested === text.trim() ? rested : '';
  const ids = useQuery({ ...idQuery(start), enabled: start !== '' });
  const isSought = pasted === undefined || (pasted.kind === 'address' && pasted.mayBePart);
  const find = isSought && isLabelLike(rested) && rested === text.trim() ? rested : '';
  const watching = streams.filter(({ amountOfAddresses }) => amountOfAddresses > 0);
  const listed = watching.slice(0, MAX_STREAMS).map(({ id }) => id);
  const addresses = useQuery({ ...addressQuery(find, listed), enabled: find !== '' });

  const [newest] = ofTransaction.data ?? [];
  const commands: Command[] = [];
  if (hash !== '' && newest !== undefined) {
    const { length } = ofTransaction.data ?? [];
    commands.push({
      id: 'delivery-of-hash',
      label: length === 1 ? 'Open the delivery' : 'Open the newest delivery',
      detail:
        length === 1
          ? nameOfStream({ tag: newest.tag, id: newest.streamId })
          : formatQuantity(length, 'delivery', 'deliveries'),
      run: () => void navigate({ to: '/deliveries', search: { q: hash, sel: newest.id } }),
    });
  }
  for (const id of start === '' ? [] : (ids.data ?? [])) {
    commands.push({
      id: `delivery-${id}`,
      label: 'Open delivery',
      detail: id,
      run: () => void navigate({ to: '/deliveries/$deliveryId', params: { deliveryId: id } }),
    });
  }
  for (const { streamId, address, label } of find === '' ? [] : (addresses.data ?? [])) {
    const stream = streams.find(({ id }) => id === streamId);
    commands.push({
      id: `address-${streamId}-${address}`,
      label: label === undefined ? formatHash(address) : `${label} (${formatHash(address)})`,
      detail: stream === undefined ? 'address' : `address of ${nameOfStream(stream)}`,
      run: () =>
        void navigate({
          to: '/streams/$streamId',
          params: { streamId },
          search: { tab: 'addresses', find: address },
        }),
    });
  }
  return { commands, isPending: hash !== '' && ofTransaction.isPending };
}
