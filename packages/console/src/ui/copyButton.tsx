import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button, Keycap } from './button.tsx';

export function CopyButton({
  text,
  label,
  keycap,
  iconOnly = false,
  className,
}: {
  text: string;
  label: string;
  keycap?: string;
  iconOnly?: boolean;
  className?: string;
}) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const Icon = copied ? Check : Copy;
  return (
    <Button
      look="quiet"
      square={iconOnly}
      {...(className === undefined ? {} : { className })}
      aria-label={iconOnly ? label : undefined}
      title={iconOnly ? label : undefined}
      onClick={() => {
        void navigator.clipboard.writeText(text).then(() => setCopied(true));
      }}
    >
      <Icon size={14} strokeWidth={1.5} aria-hidden="true" />
      {!iconOnly && (copied ? 'Copied' : label)}
      {keycap !== undefined && <Keycap>{keycap}</Keycap>}
    </Button>
  );
}
