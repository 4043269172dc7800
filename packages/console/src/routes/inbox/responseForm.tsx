import type { Inbox, InboxResponse } from '@sluice/kit/sluice';
import { DEFAULT_INBOX_RESPONSE } from '@sluice/kit/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { queryKeys, sluice } from '../../data/queries/service.ts';
import { describeResponse } from './inboxResponse.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { showToast } from '../../ui/toasts.ts';

const NUMBERS = [
  { name: 'status', label: 'Status', bounds: '200 to 599', least: 200, most: 599 },
  { name: 'delayMs', label: 'Delay (ms)', bounds: '0 to 20,000', least: 0, most: 20_000 },
  { name: 'failStatus', label: 'Failure status', bounds: '200 to 599', least: 200, most: 599 },
  { name: 'failFirst', label: 'Fail first N', bounds: '0 to 1,000,000', least: 0, most: 1e6 },
  { name: 'failEvery', label: 'Fail every Nth', bounds: '0 to 1,000,000', least: 0, most: 1e6 },
] as const;

type NumberName = (typeof NUMBERS)[number]['name'];

const PRESETS: readonly { label: string; response: Partial<InboxResponse> }[] = [
  { label: 'Succeed', response: {} },
  { label: 'Fail every 3rd', response: { failEvery: 3 } },
  { label: 'Fail first 5', response: { failFirst: 5, failStatus: 503 } },
  { label: 'Slow', response: { delayMs: 2_000 } },
  { label: 'Rate limit', response: { status: 429 } },
  { label: 'Gone', response: { status: 410 } },
];

const toTexts = (response: InboxResponse): Record<NumberName, string> =>
  Object.fromEntries(NUMBERS.map(({ name }) => [name, String(response[name])])) as Record<
    NumberName,
    string
  >;

const isRight = ({ least, most }: (typeof NUMBERS)[number], text: string): boolean => {
  const value = Number(text);
  return text.trim() !== '' && Number.isInteger(value) && value >= least && value <= most;
};

/** Edits the response of an inbox, including simulated failures, and describes it in words. */
export function ResponseForm({ inbox, onDone }: { inbox: Inbox; onDone: () => void }) {
  const queryClient = useQueryClient();
  const [body, setBody] = useState(inbox.response.body);
  const [texts, setTexts] = useState(() => toTexts(inbox.response));
  const save = useMutation({
    mutationFn: (response: InboxResponse) => sluice.setInbox(inbox.name, response),
    onSuccess: async () => {
      onDone();
      showToast({ text: 'Response saved' });
      await queryClient.invalidateQueries({ queryKey: queryKeys.inboxes });
    },
  });
  const ready = NUMBERS.every((field) => isRight(field, texts[field.name]));
  const numbers = Object.fromEntries(
    NUMBERS.map(({ name }) => [name, Number(texts[name])]),
  ) as Record<NumberName, number>;
  const send = (): void => {
    if (ready && !save.isPending) save.mutate({ ...numbers, body });
  };
  return (
    <form
      noValidate
      aria-label={`Response of ${inbox.name}`}
      className="border-b border-line bg-surface px-4 py-3"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className="flex flex-wrap items-start gap-3">
        {NUMBERS.map((field) => (
          <span key={field.name} className="w-24">
            <TextField
              label={field.label}
              error={
                isRight(field, texts[field.name])
                  ? undefined
                  : `Enter a whole number from ${field.bounds}.`
              }
              inputMode="numeric"
              mono
              value={texts[field.name]}
              onChange={(event) => setTexts({ ...texts, [field.name]: event.target.value })}
            />
          </span>
        ))}
        <span className="min-w-48 flex-1">
          <TextField
            label="Body"
            mono
            maxLength={1000}
            value={body}
            onChange={(event) => setBody(event.target.value)}
          />
        </span>
      </div>
      <div className="mt-2 flex flex-wrap items-center gap-1">
        {PRESETS.map(({ label, response }) => (
          <Button
            key={label}
            variant="quiet"
            onClick={() => setTexts(toTexts({ ...DEFAULT_INBOX_RESPONSE, ...response }))}
          >
            {label}
          </Button>
        ))}
        <p aria-live="polite" className="ml-auto px-2 text-muted">
          {ready && describeResponse(numbers)}
        </p>
        <Button type="submit" variant="primary" disabled={!ready || save.isPending}>
          Save response
        </Button>
      </div>
      {save.isError && (
        <ErrorPanel what="Couldn't save the response" error={save.error} onRetry={send} />
      )}
    </form>
  );
}
