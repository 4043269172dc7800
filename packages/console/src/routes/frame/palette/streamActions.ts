/** Palette commands that open pages of the service and of each stream. */
import { receiverOf } from '@sluice/kit/contract';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { streamsQuery } from '../../../data/queries/streams.ts';
import { listDestinations } from '../../../words/destinations.ts';
import type { StreamSearch } from '../../../data/search.ts';
import type { Command } from './command.ts';

const ACTIONS: readonly { id: string; label: string; search: StreamSearch }[] = [
  { id: 'failed', label: 'Failed deliveries', search: { state: 'failed' } },
  { id: 'rotate', label: 'Rotate secret', search: { tab: 'settings' } },
  { id: 'addresses', label: 'Export addresses', search: { tab: 'addresses' } },
  { id: 'metrics', label: 'Metrics', search: { tab: 'metrics' } },
];

export function useStreamActions(): Command[] {
  const navigate = useNavigate();
  const { data: streams = [] } = useQuery(streamsQuery);
  const receivers = new Set(streams.flatMap(listDestinations).map(receiverOf));
  return [
    {
      id: 'failed',
      label: 'Failed deliveries',
      detail: 'all streams',
      run: () => void navigate({ to: '/deliveries', search: { state: 'failed' } }),
    },
    {
      id: 'export',
      label: 'Export streams',
      detail: 'settings',
      run: () => void navigate({ to: '/settings' }),
    },
    {
      id: 'api',
      label: 'API reference',
      detail: 'settings',
      run: () => void navigate({ to: '/settings/api' }),
    },
    ...[...receivers].map((receiver) => ({
      id: `receiver-${receiver}`,
      label: `Receiver: ${receiver}`,
      detail: 'state, response times, streams',
      run: () => void navigate({ to: '/receivers/$receiver', params: { receiver } }),
    })),
    ...ACTIONS.flatMap(({ id, label, search }) =>
      streams.map(({ id: streamId, tag, description }) => ({
        id: `${id}-${streamId}`,
        label: `${label}: ${tag || description || streamId}`,
        detail: 'stream',
        run: () => void navigate({ to: '/streams/$streamId', params: { streamId }, search }),
      })),
    ),
  ];
}
