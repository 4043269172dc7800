import { formatHash } from './format.ts';
import { CopyButton } from './copyButton.tsx';

/**
 * Shows a hash or id, shortened in the middle. The tooltip, the copy button and screen readers use
 * the full value.
 */
export function Hash({ value, name }: { value: string; name: string }) {
  return (
    <span className="inline-flex items-center">
      <span className="data" data-tip={value}>
        <span aria-hidden="true">{formatHash(value, 6)}</span>
        <span className="sr-only">{value}</span>
      </span>
      <CopyButton text={value} label={`Copy ${name}`} iconOnly />
    </span>
  );
}
