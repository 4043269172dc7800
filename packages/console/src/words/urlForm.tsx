import { isSluiceError, type UrlTestResult } from '@sluice/kit/sluice';
import { useMutation } from '@tanstack/react-query';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/form/field.tsx';
import { CallForm } from './callForm.tsx';

/** Returns the problem of a field of the request body, if the service reported one. */
type ProblemAt = (field: string) => string | undefined;

/** Shows a form that tests and adds the URL of a node or an alert receiver. */
export function UrlForm<Sent extends { url: string }>({
  sent,
  onUrl,
  ready,
  help,
  action,
  failed,
  test,
  add,
  renderFields = () => null,
}: {
  /** The request body. */
  sent: Sent;
  onUrl: (url: string) => void;
  /** Whether every field is filled in. */
  ready: boolean;
  help: string;
  /** Label of the submit button. */
  action: string;
  /** Heading of an error that is not about a field. */
  failed: string;
  test: (sent: Sent) => Promise<UrlTestResult>;
  add: (sent: Sent) => Promise<unknown>;
  /** Renders the fields that are shown below the URL. */
  renderFields?: (problemAt: ProblemAt) => React.ReactNode;
}) {
  const testing = useMutation({ mutationFn: test });
  const adding = useMutation({ mutationFn: add });
  const isAsSent = ({ variables }: { variables: Sent | undefined }): boolean =>
    JSON.stringify(variables) === JSON.stringify(sent);
  const verdict = isAsSent(testing) ? testing.data : undefined;
  const error =
    (isAsSent(adding) ? adding.error : null) ?? (isAsSent(testing) ? testing.error : null);
  const problemAt: ProblemAt = (field) => readProblem(error, field);
  const isFieldError = ['url', 'chainId'].some((field) => problemAt(field) !== undefined);
  const refusal = verdict === undefined || verdict.code === 'ok' ? undefined : verdict.message;
  const urlProblem = problemAt('url') ?? (refusal && toSentence(refusal));
  const isBusy = testing.isPending || adding.isPending;
  return (
    <CallForm
      call={{
        mutate() {
          testing.reset();
          adding.mutate(sent);
        },
        isPending: isBusy,
        error: isFieldError ? null : error,
      }}
      ready={ready}
      action={action}
      failed={failed}
    >
      <TextField
        label="URL"
        mono
        placeholder="https://…"
        help={help}
        error={urlProblem}
        value={sent.url}
        onChange={(event) => onUrl(event.target.value)}
      />
      {renderFields(problemAt)}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button
          disabled={!ready || isBusy}
          onClick={() => {
            adding.reset();
            testing.mutate(sent);
          }}
        >
          Test
        </Button>
        <output className="min-w-0 text-12 break-words text-muted">
          {testing.isPending
            ? 'Testing…'
            : verdict?.code === 'ok'
              ? `${toSentence(verdict.message)} (${verdict.latencyMs ?? 0} ms)`
              : ''}
        </output>
      </div>
    </CallForm>
  );
}

function readProblem(error: Error | null, field: string): string | undefined {
  if (!isSluiceError(error)) return undefined;
  // A conflict has no details by field, but only the URL can cause one.
  if (error.code === 'conflict') return field === 'url' ? error.message : undefined;
  const message = error.fields[field]?.message;
  if (message === undefined) return undefined;
  return field === 'url' ? toSentence(message) : `The chain ID ${message}`;
}

/** Capitalizes a message that is a sentence, and puts `The URL` before any other message. */
const toSentence = (message: string): string =>
  /^(the|port|http:) /.test(message)
    ? message.charAt(0).toUpperCase() + message.slice(1)
    : `The URL ${message}`;
