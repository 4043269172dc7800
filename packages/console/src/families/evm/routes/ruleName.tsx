import { formatHash } from '../../../ui/text/format.ts';

/**
 * Shows the signature of an event or function, or its hash with a note.
 *
 * @param unknown the note
 */
export function RuleName({ signature, unknown }: { signature: string; unknown: string }) {
  const [name = signature] = signature.split('(');
  if (name.startsWith('0x')) {
    return (
      <span className="inline-flex flex-wrap items-baseline gap-x-2">
        <span className="data" data-tip={signature}>
          {formatHash(signature, 6)}
        </span>
        <span className="text-faint">{unknown}</span>
      </span>
    );
  }
  return (
    <span className="inline-flex max-w-full flex-wrap gap-x-2">
      <span>{name}</span>
      <span className="data min-w-0 break-all text-faint">{signature.slice(name.length)}</span>
    </span>
  );
}
