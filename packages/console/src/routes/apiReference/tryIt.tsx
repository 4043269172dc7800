import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { BodyView } from '../../body/bodyView.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { SelectField, TextArea, TextField } from '../../ui/form/field.tsx';
import { jsonProblem } from '../../ui/form/jsonProblem.ts';
import { CopyButton } from '../../ui/text/copyButton.tsx';
import { formatBytes, formatDuration } from '../../ui/text/format.ts';
import type { ApiCall } from './document.ts';
import type { Parameter, Schemas } from './openApi.ts';
import { toCurl } from '@sluice/kit/contract';
import { sendCall, toPath, type CallResponse } from './request.ts';
import { exampleOf, resolve } from './schema.ts';
import { maskSecrets } from './secrets.ts';

/** Shows a form that sends the call with the user's session, and the response. */
export function TryIt({ call, schemas }: { call: ApiCall; schemas: Schemas }) {
  const { method, parameters, body: asked } = call;
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [body, setBody] = useState(() =>
    asked?.required === true ? JSON.stringify(exampleOf(asked.schema, schemas), null, 2) : '',
  );
  const [isAsking, setAsking] = useState(false);
  const [tried, setTried] = useState(false);
  const [bytes, setBytes] = useState(0);
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  const queryClient = useQueryClient();
  const path = toPath(call, values);
  const sending = useMutation({
    mutationFn: (): Promise<CallResponse> => {
      setBytes(0);
      running.current = new AbortController();
      return sendCall(call, path, body, running.current.signal, setBytes);
    },
    onSuccess: ({ status }) => {
      if (method !== 'GET' && status < 300) void queryClient.invalidateQueries();
    },
  });

  const missing = parameters.find(
    ({ name, required }) => required && (values[name] ?? '').trim() === '',
  );
  const problem = body.trim() === '' ? undefined : jsonProblem(body);
  const bodyError =
    problem === undefined
      ? asked?.required === true && body.trim() === ''
        ? 'Enter a body.'
        : undefined
      : `Line ${problem.line}: ${problem.message}`;
  const submit = (): void => {
    setTried(true);
    if (missing !== undefined || bodyError !== undefined) return;
    if (method === 'GET') sending.mutate();
    else setAsking(true);
  };

  return (
    <div className="mt-3">
      <form
        noValidate
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {parameters.length > 0 && (
          <div className="grid gap-3 sm:grid-cols-2">
            {parameters.map((parameter) => (
              <ParameterField
                key={parameter.name}
                parameter={parameter}
                schemas={schemas}
                error={tried && parameter === missing ? `Enter ${parameter.name}.` : undefined}
                value={values[parameter.name] ?? ''}
                onChange={(value) => setValues({ ...values, [parameter.name]: value })}
              />
            ))}
          </div>
        )}
        {asked !== undefined && (
          <TextArea
            label={asked.required ? 'Body' : 'Body, optional'}
            rows={Math.min(14, body.split('\n').length + 1)}
            error={tried ? bodyError : undefined}
            value={body}
            onChange={(event) => setBody(event.target.value)}
          />
        )}
        <div className="flex flex-wrap items-center gap-2">
          <Button type="submit" variant="primary" disabled={sending.isPending}>
            {method === 'GET' ? 'Send' : 'Send…'}
          </Button>
          {sending.isPending && (
            <>
              <Button onClick={() => running.current?.abort()}>Stop</Button>
              <span className="data text-muted">{formatBytes(bytes)} received</span>
            </>
          )}
          <CopyButton
            text={toCurl({
              method: call.method,
              url: `${location.origin}${path}`,
              sendsApiKey: true,
              ...(body !== '' && { headers: { 'content-type': 'application/json' }, body }),
            })}
            label="Copy as curl"
            icon="code"
          />
          <span className="text-12 text-faint">Uses the permissions of your session.</span>
        </div>
      </form>
      {isAsking && (
        <Confirm
          title={`Send ${method} request?`}
          action={`Send ${method}`}
          onConfirm={() => sending.mutate()}
          onClose={() => setAsking(false)}
        >
          {call.summary}. The request goes to <span className="data wrap-anywhere">{path}</span> of
          this service, with the permissions of your session.
        </Confirm>
      )}
      {sending.isError && (
        <p role="alert" className="mt-3 text-bad">
          The request failed: {sending.error.message}
        </p>
      )}
      {sending.data !== undefined && (
        <ResponseView
          key={sending.submittedAt}
          call={call}
          schemas={schemas}
          response={sending.data}
        />
      )}
    </div>
  );
}

function ParameterField({
  parameter: { name, schema, required },
  schemas,
  error,
  value,
  onChange,
}: {
  parameter: Parameter;
  schemas: Schemas;
  error: string | undefined;
  value: string;
  onChange: (value: string) => void;
}) {
  const known = resolve(schema, schemas);
  const choices = known.type === 'boolean' ? [true, false] : known.enum;
  if (choices !== undefined) {
    return (
      <SelectField
        label={required ? `${name}, required` : name}
        error={error}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">{required ? 'Select a value' : 'Not set'}</option>
        {choices.map((choice) => (
          <option key={String(choice)}>{String(choice)}</option>
        ))}
      </SelectField>
    );
  }
  return (
    <TextField
      label={required ? `${name}, required` : name}
      mono
      help={known.type === 'array' ? 'Separate values with commas.' : undefined}
      error={error}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function ResponseView({
  call,
  schemas,
  response: { status, durationMs, bytes, isCut, requestId, text },
}: {
  call: ApiCall;
  schemas: Schemas;
  response: CallResponse;
}) {
  const [isRevealed, setRevealed] = useState(false);
  const safe = maskSecrets(text, status < 300 ? call.response.schema : undefined, schemas);
  const shown = isRevealed ? text : safe;
  return (
    <section aria-label="Response" className="mt-3 rounded-control border border-line">
      <output className="flex flex-wrap items-center gap-x-4 gap-y-1 px-3 py-1">
        <span className={`data font-medium ${status >= 400 ? 'text-bad' : ''}`}>{status}</span>
        <span className="data text-muted">{formatDuration(durationMs)}</span>
        <span className="data text-muted">{formatBytes(bytes)}</span>
        {isCut && <span className="text-warn">Incomplete: reading stopped early.</span>}
        <span className="data text-12 wrap-anywhere text-faint">{requestId}</span>
      </output>
      {shown === '' ? (
        <p className="border-t border-line p-3 text-muted">The response has no body.</p>
      ) : (
        <div className="flex h-96 flex-col border-t border-line">
          <BodyView label="Response body" text={shown}>
            {safe !== text && (
              <Button
                variant="quiet"
                aria-pressed={isRevealed}
                onClick={() => setRevealed(!isRevealed)}
              >
                {isRevealed ? 'Hide secrets' : 'Reveal secrets'}
              </Button>
            )}
            <CopyButton text={shown} label="Copy response" iconOnly />
          </BodyView>
        </div>
      )}
    </section>
  );
}
