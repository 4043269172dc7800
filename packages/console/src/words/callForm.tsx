import { Button } from '../ui/button.tsx';
import { ErrorPanel } from './errorPanel.tsx';

/**
 * A form that makes one API call: its fields, the error if the call failed, and a submit button.
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
  /** Whether every field is valid. */
  ready: boolean;
  /** Label of the submit button. */
  action: string;
  /** Heading of the error, such as `Couldn't create the key`. */
  failed: string;
  /** True if the call deletes something. */
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
            : { look: 'primary' })}
          disabled={!ready || isPending}
        >
          {action}
        </Button>
      </div>
    </form>
  );
}
