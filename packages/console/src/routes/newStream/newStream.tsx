import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { nameOfChain } from '@sluice/kit/contract';
import { parseAddressList, type ListedAddress } from '@sluice/kit/operator';
import type { NewStreamSearch } from '../../data/search.ts';
import { chainsQuery } from '../../data/queries/chains.ts';
import { useAddressList } from '../streamForm/draft/useAddressList.ts';
import { formatCount, formatHash, formatQuantity } from '../../ui/text/format.ts';
import { RecipeCards } from './recipeCards.tsx';
import type { Recipe } from './recipe.ts';
import { focusNext, useName, useRecipe } from './recipeDraft.ts';
import { recipeOf } from './recipes.ts';
import { queryKeys } from '../../data/queries/service.ts';
import { draftProblems } from '../streamForm/draft/problems.ts';
import type { StreamDraft } from '../streamForm/draft/draft.ts';
import { storeDraft } from '../../ui/form/storedDrafts.ts';
import { useCommandKey } from '../../ui/keys/keyboard.ts';
import { AddressesFailed, createStream, draftOfLink } from './createStream.ts';
import { refusalsOf } from '../streamForm/draft/refusals.ts';
import { Button, buttonClass, Keycap } from '../../ui/button.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Breadcrumb } from '../../ui/breadcrumb.tsx';
import { DeliverPart } from '../streamForm/deliverPart.tsx';
import { DryRunPanel } from '../streamForm/dryRun/dryRunPanel.tsx';
import { MatchPart } from '../streamForm/matchPart.tsx';
import { SharedDryRun, useSharedDryRun } from '../streamForm/dryRun/sharedDryRun.tsx';
import { type AddressFile, firstChains, WatchPart } from '../streamForm/watchPart.tsx';
import { useNamePage } from '../../ui/pageTitle.ts';
import { useMedia } from '../../ui/media.ts';
import { useKeepDraft } from '../../ui/form/keepDraft.tsx';
import type { WatchedChain } from '../../chains/timeline.ts';
import { useAccountRules } from './accountRules.ts';
import './newStream.css';
import { Review } from './review.tsx';
import { STEPS, type StepName } from './step.ts';
import { openStep, Steps } from './steps.tsx';
import { listTodo } from './todo.ts';
import type { Watched } from '../streamForm/sentence/describeStream.ts';
import { Sentence } from '../streamForm/sentence/sentence.tsx';

function Part({ step, children }: { step: StepName; children: React.ReactNode }) {
  return (
    <section
      id={`step-${step}`}
      data-step={step}
      aria-label={STEPS[step]}
      tabIndex={-1}
      className="border-b border-line px-4 py-4 outline-none"
    >
      <h2 className="caps mb-2">{STEPS[step]}</h2>
      {children}
    </section>
  );
}

/** Creates a stream on one page, with a dry run next to the form. */
export function NewStreamPage() {
  useNamePage('New stream');
  const { recipe, ...link } = useSearch({ from: '/frame/streams/new' });
  const chains = useQuery(chainsQuery);
  const draft = useQuery({
    queryKey: ['new stream', link],
    queryFn: async () => draftOfLink(link),
    // Each new form starts with a new draft.
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
  return (
    <NewStreamForm
      first={{ ...first, chains: firstChains(chains.data, first.family) }}
      recipe={recipeOf(recipe)}
      link={link}
      stored={`new stream ${JSON.stringify({ recipe, ...link })}`}
    />
  );
}

/** Number of addresses that the dry run sends with each block. */
const MAX_TRIED = 1_000;

function NewStreamForm({
  first,
  recipe,
  link,
  stored,
}: {
  first: StreamDraft;
  recipe: Recipe | undefined;
  /** The other search params of the page. */
  link: NewStreamSearch;
  /** Name of the stored draft. */
  stored: string;
}) {
  const [attempts, setAttempts] = useState(0);
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const { data: chains = [] } = useQuery(chainsQuery);
  const { typed, setTyped, isChanged } = useRecipe(stored, first, recipe, chains);
  useEffect(() => focusNext(form.current, recipe?.toFill ?? ['addresses']), [recipe]);
  useEffect(() => {
    if (attempts > 0) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [attempts]);

  const [file, setFile] = useState<AddressFile>();
  const fileList = useAddressList(file?.text ?? '', typed.family, false);
  const [added, setAdded] = useState(0);
  const written = useMemo(
    () => parseAddressList(typed.addresses, typed.family),
    [typed.addresses, typed.family],
  );
  const rows = useMemo(
    () => (fileList === null ? written.rows : [...written.rows, ...fileList.rows]),
    [written, fileList],
  );
  const { rejects } = written;
  const addresses = typed.allAddresses
    ? []
    : rows.slice(0, MAX_TRIED).map(({ address }) => address);
  const chain = chains.find(({ id }) => nameOfChain(id) === typed.chains[0]);
  const name = useName(typed, recipe, typed.allAddresses ? [] : rows, chain);
  const sent = useAccountRules(name.named, addresses, chain, recipe !== undefined);
  const { draft } = sent;
  const problems = draftProblems(draft, addresses.length);
  const todo = listTodo(problems, {
    areInvalid: !draft.allAddresses && rejects.length > 0,
    isReading: !draft.allAddresses && file !== undefined && fileList === null,
  });
  const shown = attempts > 0 ? problems : quiet(problems, draft);
  const wrong = todo.filter(({ field }) => field === undefined || shown[field] !== undefined);
  const watched = { count: rows.length, name: rows.length === 1 ? nameOfRow(rows[0]!) : undefined };

  const discard = (): void => storeDraft(stored, undefined);
  const kept = useKeepDraft(isChanged || file !== undefined, discard);
  const create = useMutation({
    mutationFn: async (_sent: StreamDraft) => createStream(await sent.settle(), rows, setAdded),
    onSuccess: async (id) => {
      await queryClient.invalidateQueries({ queryKey: queryKeys.streams });
      kept.letGo();
      discard();
      await navigate({ to: '/streams/$streamId', params: { streamId: id } });
    },
  });
  const submit = (): void => {
    setAttempts(attempts + 1);
    if (todo.length === 0 && !create.isPending) create.mutate(draft);
  };
  useCommandKey('Enter', submit);

  const isWide = useMedia('(min-width: 900px)');
  const [isChoosing, setChoosing] = useState(false);
  const cards = (
    <RecipeCards chains={chains} current={recipe} form={link} onChoose={() => setChoosing(false)} />
  );

  const part = {
    draft,
    problems: shown,
    refusals: refusalsOf(create.error, create.variables, draft),
    onChange: (next: StreamDraft) => {
      sent.onChange(next);
      name.onChange(next);
      setTyped(next);
    },
  };
  return (
    <SharedDryRun draft={draft} chain={chain} addresses={rejects.length === 0 ? addresses : null}>
      <div className="new-stream flex min-h-full max-md:flex-col md:h-full">
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
          <div className="flex items-center justify-between">
            <Breadcrumb to="/" title="Streams" here="New stream" />
            {isWide && (
              <RecipesButton isPressed={isChoosing} onClick={() => setChoosing(!isChoosing)} />
            )}
          </div>
          {!isWide && cards}
          <Steps form={form} todo={todo} wrong={wrong} />
          <div className="new-stream-parts min-h-0 md:flex-1 md:overflow-y-auto">
            {recipe !== undefined && <p className="px-4 pt-3 text-muted">{recipe.text}</p>}
            <Part step="watch">
              <WatchPart
                {...part}
                chains={chains}
                file={file}
                fileList={fileList}
                onFile={setFile}
              />
              {rows.length > MAX_TRIED && (
                <p className="mt-2 text-12 text-muted">
                  The dry run tries the first {formatCount(MAX_TRIED)} addresses.
                </p>
              )}
            </Part>
            <Part step="match">
              <MatchPart {...part} />
            </Part>
            <Part step="deliver">
              <DeliverPart {...part} />
            </Part>
            <Part step="review">
              <Review
                draft={draft}
                watched={watched}
                todo={todo}
                onOpen={(step) => openStep(form.current, step)}
              />
            </Part>
          </div>
          {create.isError && create.variables === draft && (
            <CreateError error={create.error} onRetry={submit} />
          )}
          <div
            data-bar="bottom"
            className="new-stream-bar flex flex-wrap items-center gap-3 border-t border-line px-4 py-3"
          >
            {!isWide && <Summary draft={draft} watched={watched} />}
            <Button type="submit" variant="primary" disabled={create.isPending}>
              {!create.isPending
                ? 'Create stream'
                : added === 0
                  ? 'Creating…'
                  : `${formatCount(added)} of ${formatQuantity(rows.length, 'address', 'addresses')} added…`}
              <kbd aria-hidden="true" className="font-mono text-11 pointer-coarse:hidden">
                Ctrl ↵
              </kbd>
            </Button>
            {attempts > 0 && todo[0] !== undefined && (
              <p role="alert" className="min-w-0 flex-1 text-bad">
                {todo[0].text}
              </p>
            )}
          </div>
        </form>
        <Side
          draft={draft}
          chain={chain}
          watched={watched}
          recipes={isWide && cards}
          isChoosing={isChoosing}
        />
      </div>
    </SharedDryRun>
  );
}

/** Returns the label of an address, or its shortened form. */
const nameOfRow = ({ address, label }: ListedAddress): string => label || formatHash(address);

/** Shows the sentence and the counts of the dry run in a narrow window, where the panel is below. */
function Summary({ draft, watched }: { draft: StreamDraft; watched: Watched }) {
  const { state, records, asked } = useSharedDryRun();
  return (
    <p className="new-stream-summary min-w-0 text-12">
      {state !== 'idle' && (
        <strong className="font-medium">
          {formatQuantity(records, 'record')} in {formatQuantity(asked, 'block')}.{' '}
        </strong>
      )}
      <span className="text-muted">
        <Sentence draft={draft} watched={watched} />
      </span>
    </p>
  );
}

/** Shows the recipes instead of the samples of the dry run, which shows them until it starts. */
function RecipesButton({ isPressed, onClick }: { isPressed: boolean; onClick: () => void }) {
  const { state } = useSharedDryRun();
  return state === 'idle' ? null : (
    <Button variant="quiet" className="mt-2 mr-4" aria-pressed={isPressed} onClick={onClick}>
      Recipes
    </Button>
  );
}

/** Shows the dry run, with the recipes below its counts until it starts or while one is chosen. */
function Side({
  recipes,
  isChoosing,
  ...run
}: {
  draft: StreamDraft;
  chain: WatchedChain | undefined;
  watched: Watched | undefined;
  recipes: React.ReactNode;
  isChoosing: boolean;
}) {
  const { state } = useSharedDryRun();
  return <DryRunPanel {...run} instead={(isChoosing || state === 'idle') && recipes} />;
}

/**
 * Returns the problems to show before the first attempt to create the stream. Omits problems of
 * empty fields, rules, addresses, factories and values on chain.
 */
function quiet(
  {
    rules: _rules,
    addresses: _addresses,
    factories: _factories,
    reads: _reads,
    ...problems
  }: ReturnType<typeof draftProblems>,
  draft: StreamDraft,
): ReturnType<typeof draftProblems> {
  const isShown = ([field]: [string, string]): boolean =>
    draft[field as keyof typeof problems] !== '';
  return Object.fromEntries(Object.entries(problems).filter(isShown));
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
