import { Button } from './button.tsx';
import { Dialog, DialogFooter } from './dialog.tsx';

/** Asks the user to confirm an irreversible action that a single key can start. */
export function Confirm({
  title,
  action,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  /** Label of the button. */
  action: string;
  onConfirm: () => void;
  onClose: () => void;
  children: React.ReactNode;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="mb-3 text-muted">{children}</p>
      <DialogFooter>
        <Button
          variant="primary"
          onClick={() => {
            onClose();
            onConfirm();
          }}
        >
          {action}
        </Button>
      </DialogFooter>
    </Dialog>
  );
}
