import type { StreamSummary } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { queryKeys } from '../../../data/queries/service.ts';
import { streamQuery, updateStream } from '../../../data/queries/streams.ts';
import { describeChanges, type WordedChange } from '../../streamForm/draft/changeWords.ts';
import { toChanges, toDraft } from '../../streamForm/draft/fields.ts';
import { useKnownTokens } from '../../streamForm/dryRun/readTokens.ts';
import { draftProblems } from '../../streamForm/draft/problems.ts';
import type { StreamDraft } from '../../streamForm/draft/draft.ts';
import { formatQuantity } from '../../../ui/text/format.ts';
import { useCommandKey } from '../../../ui/keys/keyboard.ts';
import { refusalsOf } from '../../streamForm/draft/refusals.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { Loading } from '../../../ui/loading.tsx';
import type { PartProps } from '../../streamForm/watchPart.tsx';
import { useKeepDraft } from '../../../ui/form/keepDraft.tsx';

/** Edits a part of the stream's form, shows the changes, and saves them. */
export function EditStream({
  stream,
  addresses = null,
  children,
}: {
  stream: StreamSummary;
  /** Some of the stream's addresses. Amounts are shown in the units of the tokens among them. */
  addresses?: readonly string[] | null;
  children: (part: PartProps) => React.ReactNode;
}) {
  const loaded = useQuery(streamQuery(stream));
  if (loaded.isError && loaded.data === undefined) {
    return (
      <ErrorPanel
        what="Couldn't load the stream"
        error={loaded.error}
        onRetry={() => void loaded.refetch()}
      />
    );
  }
  if (loaded.data === undefined) return <Loading className="p-4" />;
  return (
    <EditForm
      key={JSON.stringify(loaded.data)}
      stream={stream}
      addresses={addresses}
      before={toDraft(loaded.data)}
    >
      {children}
    </EditForm>
  );
}

function EditForm({
  stream,
  addresses,
  before,
  children,
}: {
  stream: StreamSummary;
  addresses: readonly string[] | null;
  before: StreamDraft;
  children: (part: PartProps) => React.ReactNode;
}) {
  const queryClient = useQueryClient();
  const [draft, setDraft] = useState(before);
  const problems = draftProblems(draft, stream.amountOfAddresses || 1);
  const known = useKnownTokens(draft, addresses);
  const changes = describeChanges(before, draft, known);
  const save = useMutation({
    mutationFn: (sent: StreamDraft) => updateStream(stream, toChanges(before, sent)),
    onSuccess: async () => {
      // The form is not mounted again if the stream looks the same, as after a change of the secret.
      setDraft((now) =>
        now.oauth2 === null ? now : { ...now, oauth2: { ...now.oauth2, clientSecret: '' } },
      );
      await queryClient.invalidateQueries({ queryKey: queryKeys.stream(stream.id) });
      await queryClient.invalidateQueries({ queryKey: queryKeys.streams });
    },
  });
  const maySave = Object.keys(problems).length === 0 && changes.length > 0;
  const submit = (): void => {
    if (maySave && !save.isPending) save.mutate(draft);
  };
  useCommandKey('Enter', submit);
  const kept = useKeepDraft(changes.length > 0);
  return (
    <form
      noValidate
      aria-label="Stream"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {kept.dialog}
      {children({
        draft,
        problems,
        refusals: refusalsOf(save.error, save.variables, draft),
        onChange: setDraft,
      })}
      {save.isError && save.variables === draft && (
        <ErrorPanel what="Couldn't save the changes" error={save.error} onRetry={submit} />
      )}
      {changes.length > 0 && (
        <div className="sticky bottom-0 border-t border-line bg-surface px-4 py-3">
          <Changes changes={changes} />
          <div className="mt-2 flex flex-wrap items-center gap-2">
            <Button type="submit" variant="primary" disabled={!maySave || save.isPending}>
              {save.isPending ? 'Saving…' : `Save ${formatQuantity(changes.length, 'change')}`}
            </Button>
            <Button onClick={() => setDraft(before)}>Discard changes</Button>
            <span className="text-bad">{Object.values(problems)[0]}</span>
          </div>
        </div>
      )}
    </form>
  );
}

function Changes({ changes }: { changes: readonly WordedChange[] }) {
  return (
    <dl aria-label="Changes" className="max-h-40 overflow-y-auto">
      {changes.map(({ label, before, after }, index) => (
        <div key={index} className="flex flex-wrap gap-x-2">
          <dt className="text-muted">{label}</dt>
          <dd className="max-w-full min-w-0 wrap-anywhere">
            <del className="text-bad">{before}</del> <span aria-hidden="true">→</span>{' '}
            <ins className="text-ok no-underline">{after}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}
