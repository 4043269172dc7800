import { UNDELIVERED } from '@sluice/kit/contract';
import type { DeliveryFilter, DeliveryState } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { streamsQuery } from '../../../data/queries/streams.ts';
import { withoutUndefined } from '../../../data/search.ts';
import { presetPeriod } from '../../../ui/form/period/period.ts';
import { PeriodField } from '../../../ui/form/period/periodField.tsx';
import { SelectField } from '../../../ui/form/field.tsx';
import { DestinationField } from '../../../words/destinationField.tsx';
import { useNames } from '../replayFacts.ts';
import { ReplayForm } from './replayForm.tsx';

const STATES: readonly { value: string; label: string; states: readonly DeliveryState[] }[] = [
  { value: 'undelivered', label: 'not delivered', states: UNDELIVERED },
  { value: 'failed', label: 'failed', states: ['failed', 'quarantined'] },
  { value: 'pending', label: 'pending', states: ['pending', 'retrying'] },
  { value: 'succeeded', label: 'delivered', states: ['succeeded'] },
];

const RESPONSES = [
  { value: '5xx', label: '5xx, server error' },
  { value: '4xx', label: '4xx, client error' },
  { value: 'none', label: 'no response' },
] as const;

/**
 * Starts a replay of deliveries that are selected by four fields. The delivery list has finer
 * filters.
 */
export function NewReplay() {
  const { data: streams } = useQuery(streamsQuery);
  const names = useNames();
  const [state, setState] = useState('undelivered');
  const [streamId, setStream] = useState('');
  const [destination, setDestination] = useState<number>();
  const [status, setStatus] = useState('');
  const [created, setCreated] = useState(() => presetPeriod('24h', Date.now()));
  const filter = useMemo(
    (): DeliveryFilter => ({
      ...withoutUndefined({
        createdFrom: created.from,
        createdTo: created.until,
        state: STATES.find(({ value }) => value === state)?.states,
        streamId: streamId || undefined,
        destination,
        status: status || undefined,
      }),
    }),
    [state, streamId, destination, status, created],
  );
  const name = [
    STATES.find(({ value }) => value === state)?.label,
    status,
    streamId && names.ofStream(streamId),
    destination === undefined ? '' : `destination ${destination}`,
  ]
    .filter(Boolean)
    .join(' ');
  return (
    <ReplayForm filter={filter} name={name}>
      <div className="grid gap-3 sm:grid-cols-2">
        <SelectField
          label="Deliveries"
          value={state}
          onChange={(event) => setState(event.target.value)}
        >
          {STATES.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
        <SelectField
          label="Stream"
          value={streamId}
          onChange={(event) => {
            setStream(event.target.value);
            setDestination(undefined);
          }}
        >
          <option value="">any</option>
          {streams?.map(({ id, tag, description }) => (
            <option key={id} value={id}>
              {tag || description || id}
            </option>
          ))}
        </SelectField>
        <DestinationField
          stream={streams?.find(({ id }) => id === streamId)}
          value={destination}
          onChange={setDestination}
        />
        <SelectField
          label="Last response"
          value={status}
          onChange={(event) => setStatus(event.target.value)}
        >
          <option value="">any</option>
          {RESPONSES.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
        <div className="min-w-0">
          <span className="mb-1 block text-12 text-muted">Created in</span>
          <PeriodField
            label="Created in"
            empty="Any time"
            value={created}
            onChange={setCreated}
            className="w-full min-w-0 justify-start"
          />
        </div>
      </div>
    </ReplayForm>
  );
}
