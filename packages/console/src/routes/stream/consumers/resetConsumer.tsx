import type { FeedConsumer, FeedStart, StreamSummary } from '@sluice/kit/sluice';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { queryKeys, sluice } from '../../../data/queries/service.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { SelectField } from '../../../ui/form/field.tsx';
import { TimeField } from '../../../ui/form/timeField.tsx';
import { parseTimeText, presetPeriod, toTimeText } from '../../../ui/form/period/period.ts';
import { formatCount } from '../../../ui/text/format.ts';
import { showToast } from '../../../ui/toasts.ts';
import { CallForm } from '../../../words/callForm.tsx';

const PLACES = {
  start: 'The oldest delivery',
  end: 'After the newest delivery',
  time: 'The first delivery since a time',
};
type Place = keyof typeof PLACES;

/** Moves a consumer of a feed to another position. */
export function ResetConsumer({
  stream: { id },
  destination,
  consumer: { name, position },
  onClose,
}: {
  stream: StreamSummary;
  /** Number of the destination that is the feed. */
  destination: number;
  consumer: FeedConsumer;
  onClose: () => void;
}) {
  const queryClient = useQueryClient();
  const [place, setPlace] = useState<Place>('start');
  const [since, setSince] = useState(() => toTimeText(presetPeriod('1h', Date.now()).from));
  const continuesAfter = (reached: number): string =>
    `${name} continues after position ${formatCount(reached)}`;
  const move = async (to: FeedStart): Promise<FeedConsumer> => {
    const moved = await sluice.resetFeedConsumer(id, name, { to, destination });
    await queryClient.invalidateQueries({ queryKey: queryKeys.consumers(id) });
    return moved;
  };
  const time = parseTimeText(since);
  const to: FeedStart | undefined =
    place === 'time' ? (time == null ? undefined : { time }) : place;
  const reset = useMutation({
    // The list is reloaded before the call ends, so it keeps the position before the reset.
    mutationFn: async () => ({ before: position, after: (await move(to!)).position }),
    onSuccess: ({ before, after }) => {
      onClose();
      showToast({
        text: continuesAfter(after),
        undo: async () => continuesAfter((await move({ position: before })).position),
      });
    },
  });
  return (
    <Dialog title={`Reset ${name}`} onClose={onClose}>
      <CallForm
        call={reset}
        ready={to !== undefined}
        action="Reset consumer"
        failed="Couldn't reset the consumer"
      >
        <SelectField
          label="Continue at"
          value={place}
          onChange={(event) => setPlace(event.target.value as Place)}
        >
          {Object.entries(PLACES).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
        {place === 'time' && <TimeField label="Created since" text={since} onText={setSince} />}
        <p className="text-muted">
          {place === 'start'
            ? 'Deliveries that are kept are read again, under the same IDs.'
            : place === 'end'
              ? 'Unread deliveries are skipped.'
              : 'Deliveries before this time are skipped, and later ones are read again.'}{' '}
          To continue at a block or a position, run <code className="data">sluice feed reset</code>.
        </p>
      </CallForm>
    </Dialog>
  );
}
