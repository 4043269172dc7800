import { useRef, useState } from 'react';
import { Dialog } from '../../../ui/dialog.tsx';
import { useMedia } from '../../../ui/media.ts';

/**
 * Where the facets are: beside the list where both have room, else in a dialog.
 * @param isInspecting whether a delivery takes some of the room.
 */
export function useFacetPane(isInspecting: boolean) {
  const isWide = useMedia('(min-width: 1240px)');
  const isVeryWide = useMedia('(min-width: 1720px)');
  const isBeside = isInspecting ? isVeryWide : isWide;
  const beside = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  return {
    /** Opens the dialog; null where the facets are beside the list. */
    open: isBeside ? null : () => setOpen(true),
    close: () => setOpen(false),
    focus: () => {
      const first = beside.current?.querySelector<HTMLElement>('a');
      if (first) first.focus();
      else setOpen(true);
    },
    draw: (facets: React.ReactNode): React.ReactNode => {
      if (isBeside) {
        return (
          <div ref={beside} className="w-52 shrink-0 overflow-y-auto border-r border-line">
            {facets}
          </div>
        );
      }
      return (
        isOpen && (
          <Dialog title="Filter" onClose={() => setOpen(false)}>
            <div className="-m-4">{facets}</div>
          </Dialog>
        )
      );
    },
  };
}
