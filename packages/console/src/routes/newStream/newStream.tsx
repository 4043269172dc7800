import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { parseAddressList } from '../streamForm/draft/addressList.ts';
import { chainsQuery } from '../../data/queries/chains.ts';
import { queryKeys } from '../../data/queries/service.ts';
import { createSnippets } from './createSnippets.ts';
import { draftProblems } from '../streamForm/draft/problems.ts';
import type { StreamDraft } from '../streamForm/draft/draft.ts';
import { useCommandKey } from '../../ui/keys/keyboard.ts';
import { AddressesFailed, createStream, draftOfLink } from './createStream.ts';
import { refusalsOf } from '../streamForm/draft/refusals.ts';
import { Button, buttonClass, Keycap } from '../../ui/button.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Trail } from '../../ui/trail.tsx';
import { Snippets } from '../../ui/text/snippets.tsx';
import { DeliverPart } from '../streamForm/deliverPart.tsx';
import { DryRunPanel } from '../streamForm/dryRun/dryRunPanel.tsx';
import { MatchPart } from '../streamForm/matchPart.tsx';
import { SharedDryRun } from '../streamForm/dryRun/sharedDryRun.tsx';
import { firstChains, WatchPart } from '../streamForm/watchPart.tsx';
import { useNamePage } from '../../ui/pageTitle.ts';
import { useKeepDraft } from '../../ui/form/keepDraft.tsx';
import { useAccountPayments } from './accountPayments.ts';

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section aria-label={title} className="border-b border-line px-4 py-4">
      <h2 className="caps mb-2">{title}</h2>
      {children}
    </section>
  );
}

/** Creates a stream on one page, with a dry run next to the form. */
export function NewStreamPage() {
  useNamePage('New stream');
  const search = useSearch({ from: '/frame/streams/new' });
  const chains = useQuery(chainsQuery);
  const draft = useQuery({
    queryKey: ['new stream', search],
    queryFn: async () => draftOfLink(search),
    // Each form has its own draft.
    gcTime: 0,
    staleTime: Infinity,
  });
  if (chains.data === undefined || draft.data === undefined) {
    return chains.error === null ? (
      <Loading className="p-4" />
    ) : (
      <ErrorPanel
        what="Couldn't load chains"
        error={chains.error}
        onRetry={() => void chains.refetch()}
      />
    );
  }
  const first = draft.data;
  return <NewStreamForm first={{ ...first, chains: firstChains(chains.data, first.family) }} />;
}

function NewStreamForm({ first }: { first: StreamDraft }) {
  const [begun] = useState(first);
  const [typed, setTyped] = useState(begun);
  const [tried, setTried] = useState(false);
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const { data: chains = [] } = useQuery(chainsQuery);
  // Focuses the first field.
  useEffect(() => form.current?.querySelector('textarea')?.focus(), []);

  const { rows, rejects } = parseAddressList(typed.addresses, typed.family);
  const addresses = typed.allAddresses ? [] : rows.map(({ address }) => address);
  const chain = chains.find(({ id }) => id.replace(/^aptos:/, '') === typed.chains[0]);
  const payments = useAccountPayments(typed, addresses, chain);
  const { draft } = payments;
  const problems = draftProblems(draft, addresses.length);
  const ready = Object.keys(problems).length === 0 && (draft.allAddresses || rejects.length === 0);

  // A draft that a link filled in can be filled in again.
  const kept = useKeepDraft(typed !== begun);
  const create = useMutation({
    mutationFn: async (_sent: StreamDraft) => createStream(await payments.settle()),
    onSuccess: async (id) => {
      await queryClient.invalidateQueries({ queryKey: queryKeys.streams });
      kept.letGo();
      await navigate({ to: '/streams/$streamId', params: { streamId: id } });
    },
  });
  const submit = (): void => {
    setTried(true);
    if (ready && !create.isPending) create.mutate(draft);
  };
  useCommandKey('Enter', submit);

  const part = {
    draft,
    problems: tried ? problems : quiet(problems, draft),
    refusals: refusalsOf(create.error, create.variables, draft),
    onChange: (next: StreamDraft) => {
      payments.onChange(next);
      setTyped(next);
    },
  };
  return (
    <SharedDryRun draft={draft} chain={chain} addresses={rejects.length === 0 ? addresses : null}>
      <div className="flex min-h-full max-md:flex-col md:h-full">
        {kept.dialog}
        <form
          ref={form}
          noValidate
          aria-label="New stream"
          className="flex min-w-0 flex-col md:w-1/2 md:max-w-160 md:border-r md:border-line"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <div className="min-h-0 md:flex-1 md:overflow-y-auto">
            <Trail to="/" title="Streams" here="New stream" />
            <Part title="Watch">
              <WatchPart {...part} chains={chains} />
            </Part>
            <Part title="Match">
              <MatchPart {...part} />
            </Part>
            <Part title="Deliver">
              <DeliverPart {...part} />
            </Part>
            <details>
              <summary className="flex min-h-9 cursor-pointer items-center px-4 text-12 text-muted">
                As code
              </summary>
              <Snippets snippets={createSnippets(draft, location.origin)} />
            </details>
          </div>
          {create.isError && create.variables === draft && (
            <CreateError error={create.error} onRetry={submit} />
          )}
          <div className="flex flex-wrap items-center gap-3 border-y border-line px-4 py-3 md:border-b-0">
            <Button type="submit" variant="primary" disabled={create.isPending}>
              {create.isPending ? 'Creating…' : 'Create stream'}
              <kbd aria-hidden="true" className="font-mono text-11 pointer-coarse:hidden">
                Ctrl ↵
              </kbd>
            </Button>
            {tried && !ready && (
              <p role="alert" className="min-w-0 flex-1 text-bad">
                {Object.values(problems)[0] ?? 'Fix the invalid address lines.'}
              </p>
            )}
          </div>
        </form>
        <DryRunPanel draft={draft} chain={chain} />
      </div>
    </SharedDryRun>
  );
}

/** Hides problems of empty fields until the first attempt to create the stream. */
function quiet(
  problems: ReturnType<typeof draftProblems>,
  draft: StreamDraft,
): ReturnType<typeof draftProblems> {
  const { rules: _rules, addresses: _addresses, functions, ...shown } = problems;
  return draft.functions === '' || functions === undefined ? shown : { ...shown, functions };
}

function CreateError({ error, onRetry }: { error: Error; onRetry: () => void }) {
  if (error instanceof AddressesFailed) {
    return (
      <div role="alert" className="flex flex-wrap items-center gap-3 px-4 py-3">
        <p className="min-w-0 flex-1">
          The stream was created, but adding its addresses failed: {error.message}
        </p>
        <Link
          to="/streams/$streamId"
          params={{ streamId: error.streamId }}
          search={{ tab: 'addresses' }}
          className={buttonClass('plain')}
        >
          Open addresses <Keycap>↵</Keycap>
        </Link>
      </div>
    );
  }
  return <ErrorPanel what="Couldn't create the stream" error={error} onRetry={onRetry} />;
}
