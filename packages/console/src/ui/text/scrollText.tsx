import { clsx } from 'clsx';

export function ScrollText({
  label,
  wrap = false,
  className,
  children,
}: {
  label: string;
  /** Whether long lines are wrapped; otherwise, the text scrolls horizontally. */
  wrap?: boolean;
  className?: string;
  children: React.ReactNode;
}) {
  return (
    <section aria-label={label} className={clsx('relative flex min-h-0', className)}>
      <pre
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- keyboard users must be able to scroll it
        tabIndex={0}
        className={clsx(
          'data min-h-0 min-w-0 flex-1 overflow-auto p-3',
          wrap && 'wrap-anywhere whitespace-pre-wrap',
        )}
      >
        {children}
      </pre>
    </section>
  );
}
