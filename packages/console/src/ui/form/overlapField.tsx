import { Select } from './field.tsx';

const HOUR_SECONDS = 3600;
const OVERLAPS = [
  { seconds: 0, label: 'no overlap' },
  { seconds: HOUR_SECONDS, label: '1 hour' },
  { seconds: 24 * HOUR_SECONDS, label: '1 day' },
  { seconds: 7 * 24 * HOUR_SECONDS, label: '1 week' },
];

export const DEFAULT_OVERLAP_SECONDS = 24 * HOUR_SECONDS;

/** Selects how long the old secret or key pairs are also used for signing after a rotation. */
export function OverlapField({
  label,
  seconds,
  onChange,
}: {
  label: string;
  seconds: number;
  onChange: (seconds: number) => void;
}) {
  return (
    <label className="grid gap-1">
      {label}
      <Select value={seconds} onChange={(event) => onChange(Number(event.target.value))}>
        {OVERLAPS.map((overlap) => (
          <option key={overlap.seconds} value={overlap.seconds}>
            {overlap.label}
          </option>
        ))}
      </Select>
    </label>
  );
}
