import { clsx } from 'clsx';
import { CalendarClock } from 'lucide-react';
import { useState } from 'react';
import { Button, buttonClass } from '../../button.tsx';
import { Popover } from '../../popover/popover.tsx';
import { useZone } from '../../preferences.ts';
import { TimeField } from '../timeField.tsx';
import {
  formatPeriod,
  parseTimeText,
  PRESET_LABELS,
  presetPeriod,
  PRESETS,
  toTimeText,
  type Period,
} from './period.ts';

interface Props {
  /** Accessible name, such as `Created in`. */
  label: string;
  value: Period;
  /** Shown for a period without a start and an end. */
  empty: string;
  onChange: (period: Period) => void;
}

/** A button that shows a period, and opens its presets and two fields for its start and its end. */
export function PeriodField({
  className,
  ...props
}: Props & {
  /** Classes of the button. */
  className?: string;
}) {
  useZone();
  const { label, value, empty } = props;
  return (
    <Popover
      label={label}
      className={clsx(buttonClass('plain'), className)}
      button={
        <>
          <CalendarClock size={14} strokeWidth={1.5} aria-hidden="true" className="shrink-0" />
          <span className="sr-only">{label}: </span>
          <span data-cut className="truncate">
            {formatPeriod(value) || empty}
          </span>
        </>
      }
    >
      {(close) => (
        <PeriodPanel
          {...props}
          onChange={(period) => {
            close();
            props.onChange(period);
          }}
        />
      )}
    </Popover>
  );
}

function PeriodPanel({ value, empty, onChange }: Props) {
  const [from, setFrom] = useState(toTimeText(value.from));
  const [until, setUntil] = useState(toTimeText(value.until));
  const [start, end] = [parseTimeText(from), parseTimeText(until, true)];
  const isReversed = start != null && end != null && start > end;
  const isReady = start !== null && end !== null && !isReversed;
  return (
    <div className="flex max-sm:flex-col">
      <ul className="grid content-start border-line p-1 max-sm:grid-cols-2 max-sm:border-b sm:border-r">
        {PRESETS.map((preset) => (
          <li key={preset}>
            <Button
              variant="quiet"
              className="w-full justify-start"
              onClick={() => onChange(presetPeriod(preset, Date.now()))}
            >
              {PRESET_LABELS[preset]}
            </Button>
          </li>
        ))}
      </ul>
      <form
        noValidate
        className="grid w-56 content-start gap-3 p-3 max-sm:w-auto"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) onChange({ from: start, until: end });
        }}
      >
        <TimeField label="From" text={from} onText={setFrom} />
        <TimeField
          label="To"
          text={until}
          error={isReversed ? 'The end is before the start.' : undefined}
          onText={setUntil}
        />
        <div className="flex justify-end gap-2">
          <Button variant="quiet" onClick={() => onChange({})}>
            {empty}
          </Button>
          <Button type="submit" variant="primary" disabled={!isReady}>
            Apply
          </Button>
        </div>
      </form>
    </div>
  );
}
