import type { DeliveryFilter } from '@sluice/kit/sluice';
import { cutText } from '@sluice/kit/contract';
import {
  keepPreviousData,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { showReplay } from '../../../data/queries/replays.ts';
import { sluice } from '../../../data/queries/service.ts';
import { formatBytes, formatCount, formatQuantity, formatSpan } from '../../../ui/text/format.ts';
import { isCount, withoutDelivered } from './replayChoice.ts';
import { CallForm } from '../../../words/callForm.tsx';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { Check, TextField } from '../../../ui/form/field.tsx';

const MAX_NAME_LENGTH = 128;

const estimateQuery = (filter: DeliveryFilter | null) =>
  queryOptions({
    queryKey: ['replay estimate', filter],
    queryFn: ({ signal }) => sluice.estimateReplay(filter ?? {}, { signal }),
    enabled: filter !== null,
    gcTime: 0,
    placeholderData: keepPreviousData,
  });

/**
 * Shows how many deliveries the filter selects, and lets the user set the rate. Replays only
 * undelivered deliveries, unless the user includes delivered ones or the filter selects no
 * undelivered state. In either case, the user must type the count.
 */
export function ReplayForm({
  filter,
  name: given,
  children,
}: {
  filter: DeliveryFilter;
  /** Default name of the replay. */
  name: string;
  /** Fields that edit the filter. */
  children?: React.ReactNode;
}) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [typed, setName] = useState<string | null>(null);
  const name = typed ?? cutText(given, MAX_NAME_LENGTH);
  const [rate, setRate] = useState('50');
  const [wantsDelivered, setWantsDelivered] = useState(false);
  const [typedCount, setTypedCount] = useState('');
  const undelivered = withoutDelivered(filter);
  const includesDelivered = wantsDelivered || undelivered === null;
  const all = useQuery(estimateQuery(filter));
  const safe = useQuery(estimateQuery(undelivered));
  const estimate = includesDelivered ? all : safe;
  const delivered = (all.data?.deliveries ?? 0) - (safe.data?.deliveries ?? 0);
  const perSecond = Number(rate);
  const isRateRight = rate.trim() !== '' && perSecond >= 0.1 && perSecond <= 1000;
  const create = useMutation({
    mutationFn: () =>
      sluice.createReplay({
        name: name.trim(),
        filter: includesDelivered ? filter : undelivered,
        perSecond,
      }),
    onSuccess: async (made) => {
      showReplay(queryClient, made);
      await navigate({ to: '/replays/$replayId', params: { replayId: made.id } });
    },
  });
  const count = estimate.isPlaceholderData ? 0 : (estimate.data?.deliveries ?? 0);
  const isConfirmed = !includesDelivered || isCount(typedCount, count);
  const ready = count > 0 && name.trim() !== '' && isRateRight && isConfirmed;
  return (
    <CallForm
      call={create}
      ready={ready}
      action={
        count === 0
          ? 'Replay deliveries'
          : `Replay ${formatQuantity(count, 'delivery', 'deliveries')}`
      }
      failed="Couldn't start the replay"
    >
      {children}
      {estimate.isError ? (
        <ErrorPanel
          what="Couldn't count the deliveries"
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
            {' · '}about {formatBytes(estimate.data.bytes)}
            {isRateRight &&
              count > 0 &&
              ` · queued within ${formatSpan((count / perSecond) * 1000)}`}
            {includesDelivered ? '. ' : '. Delivered ones are excluded. '}
            IDs stay the same, so receivers can skip the ones they have handled.
          </span>
        </p>
      )}
      {undelivered !== null && (delivered > 0 || wantsDelivered) && (
        <Check
          label={`Include ${formatCount(delivered)} already delivered`}
          checked={wantsDelivered}
          onChange={(event) => setWantsDelivered(event.target.checked)}
        />
      )}
      {includesDelivered && count > 0 && (
        <TextField
          label={`Type ${formatCount(count)} to replay delivered webhooks`}
          inputMode="numeric"
          mono
          value={typedCount}
          onChange={(event) => setTypedCount(event.target.value)}
        />
      )}
      <TextField
        label="Name"
        maxLength={MAX_NAME_LENGTH}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label="Deliveries per second"
        inputMode="decimal"
        mono
        help="Start low if the receiver has just recovered."
        error={isRateRight ? undefined : 'Enter a number from 0.1 to 1,000.'}
        value={rate}
        onChange={(event) => setRate(event.target.value)}
      />
    </CallForm>
  );
}
