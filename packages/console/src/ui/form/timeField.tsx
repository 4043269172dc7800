import { useState } from 'react';
import { useZone } from '../preferences.ts';
import { formatDateTime } from '../text/format.ts';
import { parseInZone } from '../text/timeZone.ts';

const MINUTE_MS = 60_000;

interface Props {
  label: string;
  /** Time in Unix milliseconds; undefined for an empty field. */
  value: number | undefined;
  /**
   * Whether the field is the end of a range, so that its value is the last millisecond of the
   * minute. Default: false.
   */
  isEnd?: boolean;
  onChange: (value: number | undefined) => void;
}

/** An input for a date and time to the minute, in the chosen zone. */
export function TimeField(props: Props) {
  const zone = useZone();
  return <Field key={`${props.value} ${zone}`} {...props} />;
}

function Field({ label, value, isEnd = false, onChange }: Props) {
  const given = value === undefined ? '' : formatDateTime(value).slice(0, -3).replace(' ', 'T');
  const [typed, setTyped] = useState(given);
  // Reports a value only on Enter or when the field loses the focus, because a partly typed date
  // can be valid.
  const commit = (): void => {
    if (typed === given) return;
    const minute = parseInZone(typed);
    onChange(Number.isNaN(minute) ? undefined : minute + (isEnd ? MINUTE_MS - 1 : 0));
  };
  return (
    <label className="block min-w-0">
      <span className="caps block pb-0.5">{label}</span>
      <input
        type="datetime-local"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={commit}
        onKeyDown={({ key }) => {
          if (key === 'Enter') commit();
        }}
        className="control w-full min-w-0 rounded-control border border-line bg-transparent px-2 text-12 text-muted"
      />
    </label>
  );
}
