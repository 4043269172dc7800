import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { streamsQuery } from '../../../data/queries/streams.ts';
import { TextField } from '../../../ui/form/field.tsx';
import '../../../ui/form/choiceCard.css';
import './destinationFields.css';
import { DESTINATION_KINDS, type DestinationKind, isExample, kindOf } from './kinds.ts';

/** Selects the kind of a destination, and edits its URL. */
export function DestinationFields({
  label,
  value,
  error,
  onChange,
}: {
  /** Label of the URL. */
  label: string;
  value: string;
  error: string | undefined;
  onChange: (url: string) => void;
}) {
  const { data: streams = [] } = useQuery(streamsQuery);
  const field = useRef<HTMLInputElement>(null);
  const kind = kindOf(value);
  const choose = (chosen: DestinationKind): void => {
    if (chosen === kind) return;
    // Suggests the URL of another stream, but skips URLs in which the service has masked a secret.
    const last = streams.find(
      ({ webhookUrl: url }) => kindOf(url) === chosen && !url.includes('***'),
    )?.webhookUrl;
    const url = last ?? chosen.start;
    onChange(url);
    if (url === '' || isExample(url)) requestAnimationFrame(() => selectHost(field.current));
  };
  return (
    <div className="grid gap-2">
      <fieldset aria-label="Destination" className="destination-kinds">
        {DESTINATION_KINDS.map((each) => (
          <button
            key={each.title}
            type="button"
            aria-pressed={each === kind}
            onClick={() => choose(each)}
            className="choice-card"
          >
            {each.title} <span className="text-12 text-muted">{each.text}</span>
          </button>
        ))}
      </fieldset>
      <TextField
        ref={field}
        label={label}
        data-field="destination"
        type="url"
        mono
        placeholder="https://api.example.com/webhooks"
        help={kind.help}
        error={error}
        value={value}
        onChange={(event) => onChange(event.target.value.trim())}
      />
    </div>
  );
}

/** Focuses the field, and selects the name of the example's host, so that typing replaces it. */
function selectHost(field: HTMLInputElement | null): void {
  field?.focus();
  const at = field?.value.search(/\bhost\b/) ?? -1;
  if (at !== -1) field?.setSelectionRange(at, at + 'host'.length);
}
