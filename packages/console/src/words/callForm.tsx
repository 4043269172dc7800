import { Button } from '../ui/button.tsx';
import { DialogFooter } from '../ui/dialog.tsx';
import { ErrorPanel } from './errorPanel.tsx';

/**
 * The content of a dialog that makes one API call: its fields, the error if the call failed, and the
 * buttons.
 */
export function CallForm({
  call: { mutate, isPending, error },
  ready,
  action,
  failed,
  destructive = false,
  cancel,
  children,
}: {
  /** A mutation without variables. */
  call: { mutate: () => void; isPending: boolean; error: Error | null };
  /** Whether the form can be submitted. */
  ready: boolean;
  /** Label of the submit button. */
  action: string;
  /** Heading of the error, such as `Couldn't create the key`. */
  failed: string;
  /** Whether the submit button is styled as destructive. */
  destructive?: boolean;
  /** Label of the button that closes the dialog. Default: `Cancel`. */
  cancel?: string;
  children: React.ReactNode;
}) {
  return (
    <form
      noValidate
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (ready && !isPending) mutate();
      }}
    >
      {children}
      {error !== null && <ErrorPanel what={failed} error={error} onRetry={() => mutate()} />}
      <DialogFooter {...(cancel !== undefined && { cancel })}>
        <Button
          type="submit"
          variant={destructive ? 'danger' : 'primary'}
          disabled={!ready || isPending}
        >
          {action}
        </Button>
      </DialogFooter>
    </form>
  );
}
