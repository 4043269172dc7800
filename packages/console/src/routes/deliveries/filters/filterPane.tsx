import { useRef, useState } from 'react';
import { Dialog } from '../../../ui/dialog.tsx';
import { useMedia } from '../../../ui/media.ts';

/**
 * Places the filters next to the list if the window is wide enough, otherwise in a dialog.
 *
 * @param isInspecting whether the inspector is open, which leaves less space.
 */
export function useFilterPane(isInspecting: boolean) {
  const isWide = useMedia('(min-width: 1240px)');
  const isVeryWide = useMedia('(min-width: 1720px)');
  const isNextToList = isInspecting ? isVeryWide : isWide;
  const beside = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  return {
    /** Opens the dialog; null if the filters are next to the list. */
    open: isNextToList ? null : () => setOpen(true),
    close: () => setOpen(false),
    focus: () => {
      const first = beside.current?.querySelector<HTMLElement>('a');
      if (first) first.focus();
      else setOpen(true);
    },
    draw: (content: React.ReactNode): React.ReactNode => {
      if (isNextToList) {
        return (
          <div ref={beside} className="relative w-52 shrink-0 overflow-y-auto border-r border-line">
            {content}
          </div>
        );
      }
      return (
        isOpen && (
          <Dialog title="Filter" onClose={() => setOpen(false)}>
            <div className="-m-4">{content}</div>
          </Dialog>
        )
      );
    },
  };
}
