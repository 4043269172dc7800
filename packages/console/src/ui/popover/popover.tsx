import './popover.css';
import { useId, useState } from 'react';

/**
 * A button that opens a panel next to it. Escape and a click elsewhere close the panel, and the
 * focus returns to the button.
 */
export function Popover({
  label,
  button,
  className,
  children,
}: {
  /** Accessible name of the panel. */
  label: string;
  /** Content of the button. */
  button: React.ReactNode;
  /** Classes of the button. */
  className: string;
  /** Renders the panel while it is open. */
  children: (close: () => void) => React.ReactNode;
}) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" popoverTarget={id} aria-haspopup="dialog" className={className}>
        {button}
      </button>
      <dialog
        id={id}
        popover="auto"
        aria-label={label}
        className="popover anchored"
        onToggle={({ newState }) => setOpen(newState === 'open')}
      >
        {isOpen && children(() => document.getElementById(id)?.hidePopover())}
      </dialog>
    </>
  );
}
