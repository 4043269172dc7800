import { Keycap } from '../button.tsx';

export function SearchField({
  label,
  value,
  onChange,
  ref,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  ref: React.Ref<HTMLInputElement>;
}) {
  return (
    <span className="relative min-w-40 flex-1 sm:max-w-72">
      <input
        ref={ref}
        type="search"
        aria-label={label}
        placeholder={label}
        spellCheck={false}
        autoComplete="off"
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          const isPlain = event.key === 'Escape' && !event.nativeEvent.isComposing;
          if (isPlain) event.currentTarget.blur();
        }}
        className="control w-full rounded-control border border-line-strong bg-surface px-2.5 text-12 placeholder:text-faint"
      />
      {value === '' && (
        <span className="pointer-events-none absolute top-1/2 right-2 -translate-y-1/2">
          <Keycap>/</Keycap>
        </span>
      )}
    </span>
  );
}
