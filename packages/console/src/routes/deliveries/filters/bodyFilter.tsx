import { MAX_BODY_QUERY_LENGTH, readBodyQuery } from '@sluice/kit/contract';
import { useId, useState } from 'react';

/** Searches the bodies of deliveries on Enter, because each search reads many of them. */
export function BodyFilter({
  query,
  onSearch,
}: {
  query: string;
  /** Called with an empty string to end the search. */
  onSearch: (query: string) => void;
}) {
  const [typed, setTyped] = useState(query);
  const [isInvalid, setInvalid] = useState(false);
  const hint = useId();
  return (
    <form
      aria-label="Body"
      className="px-4 pt-3"
      onSubmit={(event) => {
        event.preventDefault();
        const isValid = typed.trim() === '' || readBodyQuery(typed) !== undefined;
        setInvalid(!isValid);
        if (isValid) onSearch(typed.trim());
      }}
    >
      <label className="grid gap-1">
        <span className="caps">Body contains</span>
        <input
          type="search"
          spellCheck={false}
          autoComplete="off"
          maxLength={MAX_BODY_QUERY_LENGTH}
          aria-invalid={isInvalid}
          aria-describedby={hint}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setInvalid(false);
            if (event.target.value === '' && query !== '') onSearch('');
          }}
          className="control w-full rounded-control border border-line-strong bg-surface px-2.5 font-mono text-12"
        />
      </label>
      <p id={hint} className={`mt-1 text-12 break-words ${isInvalid ? 'text-bad' : 'text-faint'}`}>
        {isInvalid ? 'Not a valid path. ' : ''}Text, or a path and a value:{' '}
        <span className="data">$.logs[*].address = 0x…</span>
      </p>
    </form>
  );
}
