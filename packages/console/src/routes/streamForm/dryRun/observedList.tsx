import { useState } from 'react';
import { formatCount, formatQuantity } from '../../../ui/text/format.ts';
import { Button } from '../../../ui/button.tsx';
import { Check } from '../../../ui/form/field.tsx';

/** Number of observed rows that are initially shown. */
export const SHOWN_OBSERVED = 8;

/**
 * Lists the selected rows before the offered rows. All rows are in one list, so that a row keeps
 * the focus when it is selected and moves up.
 */
export function ObservedList({
  chosen,
  offered,
}: {
  chosen: React.ReactElement[];
  offered: React.ReactElement[];
}) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <ul>{[...chosen, ...(isOpen ? offered : offered.slice(0, SHOWN_OBSERVED))]}</ul>
      {offered.length > SHOWN_OBSERVED && (
        <Button variant="quiet" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? 'Show fewer' : `Show ${formatCount(offered.length - SHOWN_OBSERVED)} more`}
        </Button>
      )}
    </>
  );
}

/** A row that can be selected, with the number of its observations. */
export function ObservedRow({
  name,
  count,
  asked,
  checked,
  onChange,
  children,
}: {
  name: React.ReactNode;
  /** Number of observations; null hides the count. */
  count: number | null;
  /** Number of blocks that the dry run has processed. */
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
