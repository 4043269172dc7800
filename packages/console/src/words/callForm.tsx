import { Button } from '../ui/button.tsx';
import { ErrorPanel } from './errorPanel.tsx';

/** A form that makes one call: its fields, what the service had against it, and the button that sends it. */
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
  /** Whether what is filled in can be sent. */
  ready: boolean;
  /** What the button says. */
  action: string;
  /** What to say when the call fails: `The key was not made`. */
  failed: string;
  /** It takes something away. */
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
