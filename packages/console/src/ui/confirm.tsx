import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

/** Asks before what a single key would do and nothing could undo. */
export function Confirm({
  title,
  action,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  /** What the button says. */
  action: string;
  onConfirm: () => void;
  onClose: () => void;
  children: React.ReactNode;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="mb-3 text-muted">{children}</p>
      <Button
        look="primary"
        onClick={() => {
          onClose();
          onConfirm();
        }}
      >
        {action}
      </Button>
    </Dialog>
  );
}
