/** Form controls with their label, help and error, linked for screen readers. */
import { clsx } from 'clsx';
import { ChevronDown, Upload } from 'lucide-react';
import { useId } from 'react';
import { buttonClass } from '../button.tsx';

export const BOX_CLASSES =
  'control w-full rounded-control border border-line-strong bg-surface px-2.5 placeholder:text-faint disabled:opacity-50 aria-invalid:border-bad';

export interface FieldTexts {
  label: string;
  help?: React.ReactNode;
  error?: string | undefined;
}

/**
 * Renders a control with its label, and with its error or, without an error, its help. The control
 * must have the id `id` and be described by `${id}-more`.
 */
export function Labeled({
  id,
  label,
  help,
  error,
  children,
}: FieldTexts & { id: string; children: React.ReactNode }) {
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block text-12 text-muted">
        {label}
      </label>
      {children}
      {error === undefined ? (
        help !== undefined && (
          <p id={`${id}-more`} className="mt-1 text-12 text-faint">
            {help}
          </p>
        )
      ) : (
        <p id={`${id}-more`} className="mt-1 text-12 break-words text-bad">
          {error}
        </p>
      )}
    </div>
  );
}

const described = (id: string, { help, error }: FieldTexts) => ({
  id,
  'aria-invalid': error !== undefined,
  ...(help === undefined && error === undefined ? {} : { 'aria-describedby': `${id}-more` }),
});

export function TextField({
  label,
  help,
  error,
  mono = false,
  className,
  ...props
}: FieldTexts & { mono?: boolean } & React.ComponentProps<'input'>) {
  const id = useId();
  return (
    <Labeled id={id} label={label} help={help} error={error}>
      <input
        {...described(id, { label, help, error })}
        spellCheck={false}
        autoComplete="off"
        className={clsx(BOX_CLASSES, mono && 'data', className)}
        {...props}
      />
    </Labeled>
  );
}

export function TextArea({
  label,
  help,
  error,
  className,
  ...props
}: FieldTexts & React.ComponentProps<'textarea'>) {
  const id = useId();
  return (
    <Labeled id={id} label={label} help={help} error={error}>
      <textarea
        {...described(id, { label, help, error })}
        spellCheck={false}
        autoComplete="off"
        className={clsx(BOX_CLASSES, 'data block min-h-16 resize-y py-1.5', className)}
        {...props}
      />
    </Labeled>
  );
}

/** A button that opens the file picker. */
export function FileField({
  label,
  accept,
  variant = 'plain',
  onFile,
}: {
  label: string;
  accept: string;
  variant?: 'plain' | 'quiet';
  onFile: (file: File) => void;
}) {
  return (
    <label
      className={clsx(
        buttonClass(variant),
        'cursor-pointer focus-within:outline-2 focus-within:-outline-offset-2 focus-within:outline-accent',
      )}
    >
      <Upload size={14} strokeWidth={1.5} aria-hidden="true" />
      {label}
      <input
        type="file"
        accept={accept}
        onChange={({ currentTarget: input }) => {
          const file = input.files?.[0];
          if (file !== undefined) onFile(file);
          // Lets the user choose the same file again after fixing it.
          input.value = '';
        }}
        className="sr-only"
      />
    </label>
  );
}

/** A native select with a custom arrow. Native selects work with touch and screen readers. */
export function Select({ children, className, ...props }: React.ComponentProps<'select'>) {
  return (
    <span className={clsx('relative min-w-0', className)}>
      <select
        className="control w-full min-w-0 appearance-none truncate rounded-control border border-line-strong bg-surface pr-7 pl-2.5 text-12"
        {...props}
      >
        {children}
      </select>
      <ChevronDown
        size={14}
        strokeWidth={1.5}
        aria-hidden="true"
        className="pointer-events-none absolute top-1/2 right-2 -translate-y-1/2 text-muted"
      />
    </span>
  );
}

/** A {@link Select} with its label above it. */
export function SelectField({
  label,
  error,
  ...props
}: Pick<FieldTexts, 'label' | 'error'> & React.ComponentProps<'select'>) {
  const id = useId();
  return (
    <Labeled id={id} label={label} error={error}>
      <Select {...described(id, { label, error })} className="block" {...props} />
    </Labeled>
  );
}

/** A checkbox with its label and help; the entire line is clickable. */
export function Check({
  label,
  help,
  ...props
}: { label: React.ReactNode; help?: string } & Omit<React.ComponentProps<'input'>, 'type'>) {
  return (
    <label className="flex min-h-6 items-start gap-2 py-0.5 pointer-coarse:min-h-11 pointer-coarse:items-center">
      <input type="checkbox" className="tick mt-0.5 size-4 shrink-0" {...props} />
      <span className="min-w-0">
        {label}
        {help !== undefined && <span className="ml-2 text-12 text-faint">{help}</span>}
      </span>
    </label>
  );
}
