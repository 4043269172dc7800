import { Button } from '../ui/button.tsx';
import { ErrorPanel } from './errorPanel.tsx';

/**
 * Shows a form that makes one API call: its fields, the error if the call failed, and a submit
 * button.
 */
export function CallForm({
  call: { mutate, isPending, error },
  ready,
  action,
  failed,
  destructive = false,
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
      <div>
        <Button
          type="submit"
          {...(destructive
            ? { className: 'text-bad', 'data-destructive': '' }
            : { variant: 'primary' as const })}
          disabled={!ready || isPending}
        >
          {action}
        </Button>
      </div>
    </form>
  );
}
