import type { StreamSummary } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { queryKeys } from '../../../data/queries/service.ts';
import { type AnyStream, streamQuery, updateStream } from '../../../data/queries/streams.ts';
import { describeChanges, type WordedChange } from '../../streamForm/draft/changeWords.ts';
import { toChanges, toDraft } from '../../streamForm/draft/fields.ts';
import { useKnownTokens } from '../../streamForm/dryRun/readTokens.ts';
import { draftProblems } from '../../streamForm/draft/problems.ts';
import type { StreamDraft } from '../../streamForm/draft/draft.ts';
import {
  conflictsOf,
  pickFields,
  readEdits,
  toEdits,
  toStored,
  withEdits,
  withoutFields,
  withoutSaved,
} from '../../streamForm/draft/edits.ts';
import { readDraft, storeDraft } from '../../../ui/form/storedDrafts.ts';
import { showToast } from '../../../ui/toasts.ts';
import { formatQuantity } from '../../../ui/text/format.ts';
import { useCommandKey } from '../../../ui/keys/keyboard.ts';
import { refusalsOf } from '../../streamForm/draft/refusals.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { Loading } from '../../../ui/loading.tsx';
import type { PartProps } from '../../streamForm/partProps.ts';
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
    <EditForm stream={stream} addresses={addresses} loaded={loaded.data}>
      {children}
    </EditForm>
  );
}

/** Holds the edits of a stream, and stores them in the browser until they are saved or discarded. */
function useEdits(streamId: string, saved: StreamDraft) {
  const name = `stream ${streamId}`;
  const [edits, setEdits] = useState(() => readEdits(readDraft(name), saved));
  useEffect(() => storeDraft(name, toStored(edits)), [name, edits]);
  return { edits, setEdits };
}

function EditForm({
  stream,
  addresses,
  loaded,
  children,
}: {
  stream: StreamSummary;
  addresses: readonly string[] | null;
  loaded: AnyStream;
  children: (part: PartProps) => React.ReactNode;
}) {
  const queryClient = useQueryClient();
  const saved = useMemo(() => toDraft(loaded), [loaded]);
  const { edits, setEdits } = useEdits(stream.id, saved);
  const draft = useMemo(() => withEdits(saved, edits), [saved, edits]);
  const problems = draftProblems(draft, stream.amountOfAddresses || 1);
  const known = useKnownTokens(draft, addresses);
  const changes = describeChanges(saved, draft, known);
  const save = useMutation({
    mutationFn: async (sent: StreamDraft): Promise<number> => {
      await updateStream(stream, toChanges(saved, sent));
      return describeChanges(saved, sent, known).length;
    },
    onSuccess: async (count, sent) => {
      showToast({ text: `Saved ${formatQuantity(count, 'change')}` });
      await queryClient.invalidateQueries({ queryKey: queryKeys.stream(stream.id) });
      const { queryKey } = streamQuery(stream);
      const now = toDraft(queryClient.getQueryData(queryKey) ?? loaded);
      setEdits((left) => withoutSaved(left, sent, now));
      await queryClient.invalidateQueries({ queryKey: queryKeys.streams });
    },
  });
  const maySave = Object.keys(problems).length === 0 && changes.length > 0;
  const submit = (): void => {
    if (maySave && !save.isPending) save.mutate(draft);
  };
  useCommandKey('Enter', submit);
  const kept = useKeepDraft(changes.length > 0, () => setEdits(undefined));
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
        onChange: (next) => setEdits((now) => toEdits(saved, next, now)),
      })}
      {save.isError && save.variables === draft && (
        <ErrorPanel what="Couldn't save the changes" error={save.error} onRetry={submit} />
      )}
      {changes.length > 0 && (
        <div className="sticky bottom-0 border-t border-line bg-surface px-4 py-3">
          {edits !== undefined && (
            <ChangedElsewhere
              changes={describeChanges(edits.base, saved, known)}
              conflicts={describeChanges(
                saved,
                { ...saved, ...pickFields(draft, conflictsOf(saved, edits)) },
                known,
              )}
              onTake={() => setEdits(withoutFields(saved, edits, conflictsOf(saved, edits)))}
              onKeep={() => setEdits({ ...edits, base: saved })}
            />
          )}
          <Changes label="Changes" changes={changes} />
          <div className="mt-2 flex flex-wrap items-center gap-2">
            <Button type="submit" variant="primary" disabled={!maySave || save.isPending}>
              {save.isPending ? 'Saving…' : `Save ${formatQuantity(changes.length, 'change')}`}
            </Button>
            <Button onClick={() => setEdits(undefined)}>Discard changes</Button>
            <span className="text-bad">{Object.values(problems)[0]}</span>
          </div>
        </div>
      )}
    </form>
  );
}

/**
 * Shows what changed in the saved stream since the edits began. For fields that were edited here,
 * too, the user chooses between both values.
 */
function ChangedElsewhere({
  changes,
  conflicts,
  onTake,
  onKeep,
}: {
  changes: readonly WordedChange[];
  conflicts: readonly WordedChange[];
  /** Replaces the edits of the conflicting fields with the saved values. */
  onTake: () => void;
  /** Keeps all edits, and hides the changes. */
  onKeep: () => void;
}) {
  if (changes.length === 0) return null;
  const fields = conflicts.map(({ label }) => label).join(', ');
  return (
    <div className="mb-2 border-l-2 border-warn pl-3">
      <output className="block">
        The stream was changed elsewhere.{' '}
        {conflicts.length === 0
          ? 'Your changes are kept.'
          : `You changed ${fields}, too: saving replaces the other change.`}
      </output>
      <Changes label="Changed elsewhere" changes={changes} />
      <div className="mt-1 flex flex-wrap gap-2">
        {conflicts.length > 0 && <Button onClick={onTake}>Use the other change</Button>}
        <Button onClick={onKeep}>{conflicts.length > 0 ? 'Keep mine' : 'OK'}</Button>
      </div>
    </div>
  );
}

function Changes({ label, changes }: { label: string; changes: readonly WordedChange[] }) {
  return (
    <dl aria-label={label} className="max-h-40 overflow-y-auto">
      {changes.map(({ label: field, before, after }, index) => (
        <div key={index} className="flex flex-wrap gap-x-2">
          <dt className="text-muted">{field}</dt>
          <dd className="max-w-full min-w-0 wrap-anywhere">
            <del className="text-bad">{before}</del> <span aria-hidden="true">→</span>{' '}
            <ins className="text-ok no-underline">{after}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}
