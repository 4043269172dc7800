import { useState } from 'react';
import { formatCount, formatQuantity } from '../../../ui/text/format.ts';
import { Button } from '../../../ui/button.tsx';
import { Check } from '../../../ui/form/field.tsx';

/** Of what was seen and is not in the form; more open on demand. */
export const SHOWN_SEEN = 8;

/** Rows to choose from. One list: what is chosen moves up in it, and keeps the focus. */
export function SeenList({
  chosen,
  offered,
}: {
  chosen: React.ReactElement[];
  offered: React.ReactElement[];
}) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <ul>{[...chosen, ...(isOpen ? offered : offered.slice(0, SHOWN_SEEN))]}</ul>
      {offered.length > SHOWN_SEEN && (
        <Button look="quiet" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? 'Fewer' : `${formatCount(offered.length - SHOWN_SEEN)} more`}
        </Button>
      )}
    </>
  );
}

/** Something to choose, with how often it was seen. */
export function SeenRow({
  name,
  count,
  asked,
  checked,
  onChange,
  children,
}: {
  name: React.ReactNode;
  /** How often it was seen; null says nothing of it. */
  count: number | null;
  /** Blocks in which it was looked for. */
  asked: number;
  checked: boolean;
  onChange: (isChecked: boolean) => void;
  children?: React.ReactNode;
}) {
  return (
    <li className="border-t border-line py-1 first:border-t-0">
      <div className="flex flex-wrap items-center gap-x-3">
        <Check
          label={name}
          checked={checked}
          onChange={(event) => onChange(event.target.checked)}
        />
        {count !== null && asked > 0 && (
          <span className="data ml-auto text-muted">
            {formatCount(count)} in {formatQuantity(asked, 'block')}
          </span>
        )}
      </div>
      {children}
    </li>
  );
}
