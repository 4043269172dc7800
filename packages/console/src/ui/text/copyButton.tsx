import { Check, Code, Copy, Link2, Route } from 'lucide-react';
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
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const Icon = copied ? Check : ICONS[icon];
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
          .then(() => setCopied(true));
      }}
    >
      <Icon size={14} strokeWidth={1.5} aria-hidden="true" />
      {!iconOnly && (copied ? 'Copied' : label)}
      {keycap !== undefined && <Keycap>{keycap}</Keycap>}
    </Button>
  );
}
