import { useState } from 'react';

const LABEL = 'Search by transaction, address or label';

/** A search field that searches only on Enter, because each search reads many deliveries. */
export function SearchInput({
  text,
  onSearch,
}: {
  text: string;
  onSearch: (text: string) => void;
}) {
  const [typed, setTyped] = useState(text);
  return (
    <form
      className="min-w-0 flex-[1_1_60%] @min-[560px]/explorer:flex-[1_1_10rem] @min-[900px]/explorer:flex-[0_0_18rem]"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(typed.trim());
      }}
    >
      <input
        type="search"
        aria-label={LABEL}
        placeholder={LABEL}
        spellCheck={false}
        autoComplete="off"
        maxLength={100}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          if (event.target.value === '' && text !== '') onSearch('');
        }}
        className="control w-full rounded-control border border-line-strong bg-surface px-2.5 text-12 placeholder:text-faint"
      />
    </form>
  );
}
