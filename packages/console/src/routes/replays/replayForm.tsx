import type { DeliveryFilter } from '@sluice/kit/sluice';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { showReplay, sluice } from '../../api.ts';
import { formatBytes, formatQuantity, formatSpan } from '../../format.ts';
import { CallForm } from '../../ui/callForm.tsx';
import { ErrorPanel } from '../../ui/errorPanel.tsx';
import { TextField } from '../../ui/field.tsx';

const LONGEST_NAME = 128;

/** How many the filter finds, then how fast they are sent again. */
export function ReplayForm({
  filter,
  name: given,
  children,
}: {
  filter: DeliveryFilter;
  /** What it is called unless another name is typed. */
  name: string;
  /** What the filter is chosen by. */
  children?: React.ReactNode;
}) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [typed, setName] = useState<string | null>(null);
  const name = typed ?? given.slice(0, LONGEST_NAME);
  const [rate, setRate] = useState('50');
  const estimate = useQuery({
    queryKey: ['replay estimate', filter],
    queryFn: ({ signal }) => sluice.estimateReplay(filter, { signal }),
    gcTime: 0,
    placeholderData: keepPreviousData,
  });
  const perSecond = Number(rate);
  const isRateRight = rate.trim() !== '' && perSecond >= 0.1 && perSecond <= 1000;
  const create = useMutation({
    mutationFn: () => sluice.createReplay({ name: name.trim(), filter, perSecond }),
    onSuccess: async (made) => {
      showReplay(queryClient, made);
      await navigate({ to: '/replays/$replayId', params: { replayId: made.id } });
    },
  });
  const count = estimate.isPlaceholderData ? 0 : (estimate.data?.deliveries ?? 0);
  const ready = count > 0 && name.trim() !== '' && isRateRight;
  return (
    <CallForm
      call={create}
      ready={ready}
      action={
        count === 0
          ? 'Replay deliveries'
          : `Replay ${formatQuantity(count, 'delivery', 'deliveries')}`
      }
      failed="The replay was not started"
    >
      {children}
      {estimate.isError ? (
        <ErrorPanel
          what="The deliveries could not be counted"
          error={estimate.error}
          onRetry={() => void estimate.refetch()}
        />
      ) : estimate.data === undefined ? (
        <p className="text-faint">Counting</p>
      ) : (
        <p aria-live="polite" className={estimate.isPlaceholderData ? 'opacity-60' : ''}>
          <span className="font-medium">
            {formatQuantity(estimate.data.deliveries, 'delivery', 'deliveries')}
            {estimate.data.isCapped && ' or more'}
          </span>
          <span className="text-muted">
            {' '}
            about {formatBytes(estimate.data.bytes)}
            {isRateRight && count > 0 && `, made due in ${formatSpan((count / perSecond) * 1000)}`}.
            Each keeps its id, so that a receiver knows those it has handled.
          </span>
        </p>
      )}
      <TextField
        label="Name"
        maxLength={LONGEST_NAME}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label="Per second"
        inputMode="decimal"
        mono
        help="A receiver that has just come back may want few."
        error={isRateRight ? undefined : 'A number from 0.1 to 1,000.'}
        value={rate}
        onChange={(event) => setRate(event.target.value)}
      />
    </CallForm>
  );
}
