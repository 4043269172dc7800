import { clsx } from 'clsx';

const VARIANTS = {
  primary: 'border-transparent bg-accent text-bg font-medium hover:opacity-90',
  plain: 'border-line-strong text-text hover:bg-raised',
  danger: 'border-line-strong text-bad hover:bg-raised',
  quiet: 'border-transparent text-muted hover:bg-raised hover:text-text',
} as const;

export const buttonClass = (variant: keyof typeof VARIANTS, square = false): string =>
  clsx(
    'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-control border text-12 whitespace-nowrap disabled:opacity-50',
    square ? 'control-square' : 'control px-2.5',
    VARIANTS[variant],
  );

/** Shows a button of a row, with the class `group`, on hover and focus; on touch screens, always. */
export const ROW_ICON =
  'opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100';

export function Button({
  variant = 'plain',
  square = false,
  className,
  ...props
}: Omit<React.ComponentProps<'button'>, 'title'> & {
  variant?: keyof typeof VARIANTS;
  square?: boolean;
}) {
  return (
    <button
      type="button"
      data-danger={variant === 'danger' || undefined}
      className={clsx(buttonClass(variant, square), className)}
      {...props}
    />
  );
}

/** Shows the shortcut of an action next to its label; hidden on touch devices. */
export function Keycap({ children }: { children: string }) {
  return (
    <kbd
      aria-hidden="true"
      className="inline-block min-w-4.5 rounded-[4px] border border-line px-1 text-center font-mono text-11 text-faint pointer-coarse:hidden"
    >
      {children}
    </kbd>
  );
}
