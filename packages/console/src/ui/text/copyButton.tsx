import { Check, Code, Copy, Link2, Route, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button, Keycap } from '../button.tsx';

const ICONS = { copy: Copy, path: Route, link: Link2, code: Code } as const;

export function CopyButton({
  text,
  label,
  keycap,
  icon = 'copy',
  iconOnly = false,
  className,
}: {
  /** The text to copy, or a function that fetches it. */
  text: string | (() => Promise<string>);
  label: string;
  keycap?: string;
  icon?: keyof typeof ICONS;
  iconOnly?: boolean;
  className?: string;
}) {
  /** Outcome of the last click, cleared after 1.5 s. */
  const [outcome, setOutcome] = useState<'Copied' | 'Not copied'>();
  useEffect(() => {
    if (outcome === undefined) return undefined;
    const timer = setTimeout(() => setOutcome(undefined), 1500);
    return () => clearTimeout(timer);
  }, [outcome]);
  const Icon = outcome === 'Copied' ? Check : outcome === undefined ? ICONS[icon] : X;
  return (
    <Button
      variant="quiet"
      square={iconOnly}
      {...(className === undefined ? {} : { className })}
      aria-label={iconOnly ? label : undefined}
      title={iconOnly ? label : undefined}
      onClick={() => {
        void Promise.resolve(typeof text === 'string' ? text : text())
          .then((it) => navigator.clipboard.writeText(it))
          .then(() => setOutcome('Copied'))
          // Browsers block the clipboard on pages loaded over plain HTTP from another machine.
          .catch(() => setOutcome('Not copied'));
      }}
    >
      <Icon size={14} strokeWidth={1.5} aria-hidden="true" />
      {!iconOnly && (outcome ?? label)}
      {keycap !== undefined && <Keycap>{keycap}</Keycap>}
    </Button>
  );
}
