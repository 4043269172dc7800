import { SelectField } from '../ui/form/field.tsx';
import { listDestinations, nameOfDestination, type StreamDestinations } from './destinations.ts';

/** Selects all destinations of a stream or one; renders nothing if the stream has only one. */
export function DestinationField({
  stream,
  value,
  onChange,
}: {
  stream: StreamDestinations | undefined;
  /** Number of the destination; undefined for all. */
  value: number | undefined;
  onChange: (destination: number | undefined) => void;
}) {
  if (stream === undefined || stream.destinations.length === 0) return null;
  return (
    <SelectField
      label="Destination"
      value={value ?? ''}
      onChange={({ target }) => onChange(target.value === '' ? undefined : Number(target.value))}
    >
      <option value="">all</option>
      {listDestinations(stream).map(({ destination }) => (
        <option key={destination} value={destination}>
          {nameOfDestination(destination, stream)}
        </option>
      ))}
    </SelectField>
  );
}
