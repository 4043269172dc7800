/** A segmented control: a row of buttons, of which at most one is selected. */
export function Segments<T extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: readonly { value: T; label: React.ReactNode }[];
  value: T;
  onChange: (value: T) => void;
}) {
  return (
    <fieldset aria-label={label} className="flex min-w-0 flex-wrap gap-1">
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={value === option.value}
          onClick={() => onChange(option.value)}
          className="control flex max-w-full min-w-0 items-center gap-1.5 rounded-control px-2 text-12 text-muted hover:text-text aria-pressed:bg-raised aria-pressed:text-text"
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}
