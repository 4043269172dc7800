import { clsx } from 'clsx';
import { GitCompareArrows } from 'lucide-react';
import { useState } from 'react';
import { Button, buttonClass } from '../../../ui/button.tsx';
import { parseTimeText, toTimeText } from '../../../ui/form/period/period.ts';
import { TimeField } from '../../../ui/form/timeField.tsx';
import { Popover } from '../../../ui/popover/popover.tsx';
import { useZone } from '../../../ui/preferences.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

/** Choices of how many minutes earlier the compared period is; undefined is directly before. */
const CHOICES: readonly { ago: number | undefined; label: string }[] = [
  { ago: undefined, label: 'the period before' },
  { ago: DAY_MINUTES, label: 'a day earlier' },
  { ago: 7 * DAY_MINUTES, label: 'a week earlier' },
];

interface Props {
  /** Minutes by which the compared period is earlier; undefined for the period directly before. */
  ago: number | undefined;
  /** Start of the shown period in Unix milliseconds. */
  start: number;
  onChange: (ago: number | undefined) => void;
}

/** A button that names the compared period, and opens the choices and a field for another start. */
export function ComparisonField(props: Props) {
  useZone();
  const { ago, start, onChange } = props;
  const choice = CHOICES.find((each) => each.ago === ago);
  const words = choice?.label ?? `since ${toTimeText(start - ago! * MINUTE_MS)}`;
  return (
    <Popover
      label="Compared period"
      className={clsx(buttonClass('plain'), 'min-w-0')}
      button={
        <>
          <GitCompareArrows size={14} strokeWidth={1.5} aria-hidden="true" className="shrink-0" />
          <span data-cut className="truncate">
            Compared with {words}
          </span>
        </>
      }
    >
      {(close) => (
        <Choices
          {...props}
          onChange={(chosen) => {
            close();
            onChange(chosen);
          }}
        />
      )}
    </Popover>
  );
}

function Choices({ start, onChange }: Props) {
  const [text, setText] = useState('');
  const other = parseTimeText(text);
  const isLater = other != null && other >= start;
  return (
    <div className="grid w-64 gap-1 p-1">
      {CHOICES.map(({ ago, label }) => (
        <Button key={label} variant="quiet" className="justify-start" onClick={() => onChange(ago)}>
          With {label}
        </Button>
      ))}
      <form
        noValidate
        className="grid gap-2 border-t border-line p-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (other != null && !isLater) onChange(Math.ceil((start - other) / MINUTE_MS));
        }}
      >
        <TimeField
          label="With a period since"
          text={text}
          error={isLater ? 'Choose a time before the shown period.' : undefined}
          onText={setText}
        />
        <Button type="submit" disabled={other == null || isLater} className="justify-self-end">
          Compare
        </Button>
      </form>
    </div>
  );
}
