import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

/** Confirms an irreversible action that a single key starts. */
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
      <Button
        variant="primary"
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
