import type { Inbox } from '@sluice/kit/sluice';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { queryKeys, sluice } from '../../api.ts';
import { CallForm } from '../../ui/callForm.tsx';
import { TextArea, TextField } from '../../ui/field.tsx';

const NUMBERS = [
  { name: 'status', label: 'Status', help: '200 to 599', least: 200, most: 599 },
  { name: 'delayMs', label: 'Delay in ms', help: 'at most 20,000', least: 0, most: 20_000 },
  { name: 'failFirst', label: 'Fail the first', help: 'so many webhooks', least: 0, most: 1e6 },
  { name: 'failEvery', label: 'Fail every', help: 'so many; 0 for none', least: 0, most: 1e6 },
  { name: 'failStatus', label: 'Fail with', help: '200 to 599', least: 200, most: 599 },
] as const;

type NumberName = (typeof NUMBERS)[number]['name'];

/** A receiver that fails on cue, to see how a stream bears it. */
export function AnswerForm({ inbox, onDone }: { inbox: Inbox; onDone: () => void }) {
  const queryClient = useQueryClient();
  const [body, setBody] = useState(inbox.answer.body);
  const [texts, setTexts] = useState(
    () =>
      Object.fromEntries(NUMBERS.map(({ name }) => [name, String(inbox.answer[name])])) as Record<
        NumberName,
        string
      >,
  );
  const isRight = ({ name, least, most }: (typeof NUMBERS)[number]): boolean => {
    const value = Number(texts[name]);
    return texts[name].trim() !== '' && Number.isInteger(value) && value >= least && value <= most;
  };
  const save = useMutation({
    mutationFn: () =>
      sluice.setInbox(inbox.name, {
        body,
        ...(Object.fromEntries(NUMBERS.map(({ name }) => [name, Number(texts[name])])) as Record<
          NumberName,
          number
        >),
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: queryKeys.inboxes });
      onDone();
    },
  });
  const ready = NUMBERS.every(isRight);
  return (
    <CallForm call={save} ready={ready} action="Set answer" failed="The answer was not set">
      <div className="grid grid-cols-2 gap-3">
        {NUMBERS.map((field) => (
          <TextField
            key={field.name}
            label={field.label}
            help={field.help}
            error={isRight(field) ? undefined : `A whole number, ${field.help}.`}
            inputMode="numeric"
            mono
            value={texts[field.name]}
            onChange={(event) => setTexts({ ...texts, [field.name]: event.target.value })}
          />
        ))}
      </div>
      <TextArea
        label="Body"
        rows={3}
        maxLength={1000}
        value={body}
        onChange={(event) => setBody(event.target.value)}
      />
    </CallForm>
  );
}
