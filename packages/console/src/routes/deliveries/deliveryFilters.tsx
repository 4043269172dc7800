import type { StreamSummary } from '@sluice/kit/sluice';
import { Pause, Play } from 'lucide-react';
import { DELIVERY_STATES, type DeliveriesSearch } from '../../search.ts';
import { deliveryCondition } from '../../condition.ts';
import { Button, Keycap } from '../../ui/button.tsx';
import { Select } from '../../ui/field.tsx';

export function DeliveryFilters({
  search,
  streams,
  onChange,
  held,
  onHold,
  ref,
}: {
  search: DeliveriesSearch;
  /** To choose from; null where the page is one stream's. */
  streams: StreamSummary[] | null;
  onChange: (name: 'state' | 'stream', value: string | undefined) => void;
  held: boolean;
  onHold: (held: boolean) => void;
  ref: React.Ref<HTMLSelectElement>;
}) {
  const known = streams?.some(({ id }) => id === search.stream);
  return (
    <div className="flex items-center gap-2 border-b border-line px-4 py-2">
      <Select
        ref={ref}
        className="max-w-56 max-md:max-w-none max-md:flex-1"
        aria-label="State"
        value={search.state ?? ''}
        onChange={(event) => onChange('state', event.target.value || undefined)}
      >
        <option value="">Every state</option>
        {DELIVERY_STATES.map((state) => (
          <option key={state} value={state}>
            {deliveryCondition({ state, attempts: 0 }).word}
          </option>
        ))}
      </Select>
      {streams !== null && (
        <Select
          className="max-w-56 max-md:max-w-none max-md:flex-1"
          aria-label="Stream"
          value={search.stream ?? ''}
          onChange={(event) => onChange('stream', event.target.value || undefined)}
        >
          <option value="">Every stream</option>
          {streams.map(({ id, tag, description }) => (
            <option key={id} value={id}>
              {tag || description || id}
            </option>
          ))}
          {/* A link may name a stream that was deleted since; its deliveries remain. */}
          {search.stream !== undefined && !known && (
            <option value={search.stream}>{search.stream}</option>
          )}
        </Select>
      )}
      <Button
        look="quiet"
        className="ml-auto"
        aria-pressed={held}
        title="New rows wait until the list runs again"
        onClick={() => onHold(!held)}
      >
        {held ? (
          <Play size={14} strokeWidth={1.5} aria-hidden="true" />
        ) : (
          <Pause size={14} strokeWidth={1.5} aria-hidden="true" />
        )}
        <span className="max-sm:sr-only">{held ? 'Run' : 'Hold'}</span>
        <Keycap>l</Keycap>
      </Button>
    </div>
  );
}
