import type { StreamSummary } from '@sluice/kit/sluice';
import { Pause, Play, RotateCw, X } from 'lucide-react';
import { deliveryCondition, PHASE_CONDITIONS } from '../../condition.ts';
import { DELIVERY_STATES, PHASES, STATUS_CLASSES, type DeliveriesSearch } from '../../search.ts';
import type { WatchedChain } from '../../tape.ts';
import { Button, Keycap } from '../../ui/button.tsx';
import { Select } from '../../ui/field.tsx';

export type FilterName = 'state' | 'stream' | 'chain' | 'phase' | 'status' | 'replay';

interface Choice {
  name: FilterName;
  label: string;
  /** What it says while nothing is chosen. */
  every: string;
  options: { value: string; label: string }[];
}

const STATES: Choice = {
  name: 'state',
  label: 'State',
  every: 'Every state',
  options: DELIVERY_STATES.map((state) => ({
    value: state,
    label: deliveryCondition({ state, attempts: 0 }).word,
  })),
};

const ANSWERS: Choice = {
  name: 'status',
  label: 'Answer',
  every: 'Any answer',
  options: STATUS_CLASSES.map((status) => ({
    value: status,
    label: status === 'none' ? 'no answer' : status,
  })),
};

const PHASE_CHOICE: Choice = {
  name: 'phase',
  label: 'Phase',
  every: 'Every phase',
  options: PHASES.map((phase) => ({ value: phase, label: PHASE_CONDITIONS[phase].word })),
};

/** Which deliveries are listed; and what can be done with all of them. */
export function DeliveryFilters({
  search,
  streams,
  chains,
  onChange,
  held,
  onHold,
  onReplay,
  ref,
}: {
  search: DeliveriesSearch;
  /** To choose from; null where the page is one stream's. */
  streams: StreamSummary[] | null;
  chains: readonly WatchedChain[];
  onChange: (name: FilterName, value: string | undefined) => void;
  held: boolean;
  onHold: (held: boolean) => void;
  /** Null while the filter finds everything. */
  onReplay: (() => void) | null;
  ref: React.Ref<HTMLSelectElement>;
}) {
  const choices: Choice[] = [
    STATES,
    ...(streams === null ? [] : [streamChoice(streams)]),
    ANSWERS,
    PHASE_CHOICE,
    ...(chains.length < 2 || streams === null ? [] : [chainChoice(chains)]),
  ];
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
      {choices.map((choice, index) => (
        <FilterSelect
          key={choice.name}
          choice={choice}
          value={search[choice.name]}
          onChange={(value) => onChange(choice.name, value)}
          {...(index === 0 ? { ref } : {})}
        />
      ))}
      {search.replay !== undefined && (
        <Button onClick={() => onChange('replay', undefined)}>
          of one replay
          <X size={12} strokeWidth={1.5} aria-hidden="true" />
          <span className="sr-only">, show all</span>
        </Button>
      )}
      <span className="ml-auto flex gap-1">
        <Button
          look="quiet"
          disabled={onReplay === null}
          title={onReplay === null ? 'Filter first: a replay is of some deliveries' : 'Replay r'}
          onClick={() => onReplay?.()}
        >
          <RotateCw size={14} strokeWidth={1.5} aria-hidden="true" />
          Replay…
        </Button>
        <Button
          look="quiet"
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
      </span>
    </div>
  );
}

const streamChoice = (streams: readonly StreamSummary[]): Choice => ({
  name: 'stream',
  label: 'Stream',
  every: 'Every stream',
  options: streams.map(({ id, tag, description }) => ({
    value: id,
    label: tag || description || id,
  })),
});

const chainChoice = (chains: readonly WatchedChain[]): Choice => ({
  name: 'chain',
  label: 'Chain',
  every: 'Every chain',
  options: chains.map(({ id, name }) => ({ value: id, label: name })),
});

function FilterSelect({
  choice: { label, every, options },
  value,
  onChange,
  ref,
}: {
  choice: Choice;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  ref?: React.Ref<HTMLSelectElement>;
}) {
  const known = value === undefined || options.some((option) => option.value === value);
  return (
    <Select
      {...(ref === undefined ? {} : { ref })}
      className="max-w-44 max-sm:max-w-[calc(50%-4px)] max-sm:min-w-28 max-sm:flex-1"
      aria-label={label}
      value={value ?? ''}
      onChange={(event) => onChange(event.target.value || undefined)}
    >
      <option value="">{every}</option>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
      {/* A link may name a stream that was deleted since; its deliveries remain. */}
      {!known && <option value={value}>{value}</option>}
    </Select>
  );
}
