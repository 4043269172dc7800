import { clsx } from 'clsx';
import { Keycap } from '../../../ui/button.tsx';

/** Labels an action of the list; where the list is narrow, only screen readers get the label. */
export function ActionWord({
  children,
  keycap,
  isKept = false,
}: {
  children: React.ReactNode;
  keycap?: string;
  /** Whether the label stays visible where the list is narrow. */
  isKept?: boolean;
}) {
  return (
    <span
      className={clsx(
        'inline-flex items-center gap-1.5',
        !isKept && '@max-[900px]/explorer:sr-only',
      )}
    >
      {children}
      {keycap !== undefined && <Keycap>{keycap}</Keycap>}
    </span>
  );
}
