import { Check, Code, Copy, Link2, Route, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button, Keycap } from '../button.tsx';
import { showNotCopied, toClipboard } from './copyText.ts';

const ICONS = { copy: Copy, path: Route, link: Link2, code: Code } as const;

/** Time for which the button shows the outcome of a click. */
const OUTCOME_MS = 4_000;

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
  /** The action, such as `Copy ID`. */
  label: string;
  keycap?: string;
  icon?: keyof typeof ICONS;
  iconOnly?: boolean;
  className?: string;
}) {
  const [outcome, setOutcome] = useState<'Copied' | "Couldn't copy">();
  useEffect(() => {
    if (outcome === undefined) return undefined;
    const timer = setTimeout(() => setOutcome(undefined), OUTCOME_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async (): Promise<void> => {
    const isCopied = await Promise.resolve(typeof text === 'string' ? text : text())
      .then(toClipboard)
      .catch(() => false);
    setOutcome(isCopied ? 'Copied' : "Couldn't copy");
    if (!isCopied) showNotCopied(nameOf(label));
  };
  const Icon = outcome === 'Copied' ? Check : outcome === undefined ? ICONS[icon] : X;
  return (
    <Button
      variant="quiet"
      square={iconOnly}
      {...(className === undefined ? {} : { className })}
      aria-label={iconOnly ? label : undefined}
      data-tip={iconOnly ? (outcome ?? label) : undefined}
      onClick={() => void copy()}
    >
      <Icon size={14} strokeWidth={1.5} aria-hidden="true" />
      {!iconOnly && (outcome ?? label)}
      {iconOnly && <output className="sr-only">{outcome}</output>}
      {keycap !== undefined && <Keycap>{keycap}</Keycap>}
    </Button>
  );
}

/** Returns what a button copies: `Request ID` for `Copy request ID`. */
function nameOf(label: string): string {
  const name = label.replace(/^Copy( as)?:? ?/, '');
  return name === '' ? 'Text' : name[0]!.toUpperCase() + name.slice(1);
}
