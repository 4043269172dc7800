import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { nameOfChain } from '@sluice/kit/contract';
import { parseAddressList, type ListedAddress } from '@sluice/kit/operator';
import type { NewStreamSearch } from '../../data/search.ts';
import { chainsQuery, contractQuery } from '../../data/queries/chains.ts';
import { unitOf } from '../streamForm/draft/tokenAmount.ts';
import { useAddressList } from '../streamForm/draft/useAddressList.ts';
import { formatCount, formatQuantity } from '../../ui/text/format.ts';
import { RecipeCards } from './recipeCards.tsx';
import { DRAFT_FAMILIES } from '../../families/draftFamilies.ts';
import type { FieldToFill, Recipe } from './recipe.ts';
import { recipeOf, nameOfRecipe, withRecipe } from './recipes.ts';
import { queryKeys } from '../../data/queries/service.ts';
import { createSnippets } from './createSnippets.ts';
import { draftProblems } from '../streamForm/draft/problems.ts';
import type { StreamDraft } from '../streamForm/draft/draft.ts';
import { readEdits, toEdits, toStored, withEdits } from '../streamForm/draft/edits.ts';
import { readDraft, storeDraft } from '../../ui/form/storedDrafts.ts';
import { useCommandKey } from '../../ui/keys/keyboard.ts';
import { AddressesFailed, createStream, draftOfLink } from './createStream.ts';
import { refusalsOf } from '../streamForm/draft/refusals.ts';
import { Button, buttonClass, Keycap } from '../../ui/button.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Breadcrumb } from '../../ui/breadcrumb.tsx';
import { Snippets } from '../../ui/text/snippets.tsx';
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

/**
 * Holds the draft, stores it in the browser until it is created or discarded, and applies each
 * selected recipe to it with `withRecipe`.
 *
 * @param name name of the stored draft, one for each link to the page.
 */
function useRecipe(
  name: string,
  first: StreamDraft,
  recipe: Recipe | undefined,
  chains: readonly WatchedChain[],
) {
  const [origin] = useState(first);
  const [begun, setBegun] = useState(first);
  const [stored] = useState(() => readEdits(readDraft(name), first));
  const [typed, setTyped] = useState(() =>
    stored === undefined ? first : withEdits(first, stored),
  );
  // A restored draft already contains the recipe.
  const [applied, setApplied] = useState(stored === undefined ? undefined : recipe);
  if (recipe !== applied) {
    setApplied(recipe);
    if (recipe !== undefined) {
      const filled = withRecipe(typed, recipe, applied);
      const next = { ...filled, chains: chainsOf(filled, chains) };
      setTyped(next);
      if (typed === begun) setBegun(next);
    }
  }
  // A draft that only a link or a recipe filled in has no changes to lose.
  const isChanged = typed !== begun;
  useEffect(
    () => storeDraft(name, isChanged ? toStored(toEdits(origin, typed, undefined)) : undefined),
    [name, origin, typed, isChanged],
  );
  return { typed, setTyped, isChanged };
}

const chainsOf = (draft: StreamDraft, chains: readonly WatchedChain[]): string[] =>
  draft.chains.length > 0 ? draft.chains : firstChains(chains, draft.family);

/**
 * Focuses the first empty field that the user has to fill in; if there is none, the first text
 * area.
 */
function focusNext(form: HTMLFormElement | null, toFill: readonly FieldToFill[]): void {
  const fields = toFill.flatMap((name) => [
    ...(form?.querySelectorAll<HTMLInputElement>(`[data-field=${name}]`) ?? []),
  ]);
  (fields.find(({ value }) => value === '') ?? form?.querySelector('textarea'))?.focus();
}

/** If a recipe is selected, names the stream with `nameOfRecipe` until the user enters a name. */
function useName(
  typed: StreamDraft,
  recipe: Recipe | undefined,
  rows: readonly ListedAddress[],
  chain: WatchedChain | undefined,
) {
  const [isChosen, setChosen] = useState(false);
  const isSuggested = recipe !== undefined && !isChosen;
  const { data: contract } = useQuery({
    ...contractQuery(chain?.id ?? '', rows[0]?.address ?? ''),
    enabled:
      isSuggested &&
      chain !== undefined &&
      DRAFT_FAMILIES[recipe.family].hasContracts &&
      rows.length === 1,
  });
  const tag = isSuggested ? nameOfRecipe(recipe, rows, unitOf(contract)) : typed.tag;
  return {
    // Stays the same object while the draft does not change, because the form detects edits after
    // sending by comparing objects.
    named: useMemo(() => (typed.tag === tag ? typed : { ...typed, tag }), [typed, tag]),
    /**
     * Must be called with the draft after each edit, to detect whether the user has entered a name.
     */
    onChange: (next: StreamDraft): void => {
      if (next.tag !== tag) setChosen(true);
    },
  };
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
  const isRead = file === undefined || fileList !== null;
  const ready =
    Object.keys(problems).length === 0 && (draft.allAddresses || (rejects.length === 0 && isRead));

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
    if (ready && !create.isPending) create.mutate(draft);
  };
  useCommandKey('Enter', submit);

  const isWide = useMedia('(min-width: 900px)');
  const [isChoosing, setChoosing] = useState(false);
  const cards = (
    <RecipeCards chains={chains} current={recipe} form={link} onChoose={() => setChoosing(false)} />
  );

  const part = {
    draft,
    problems: attempts > 0 ? problems : quiet(problems, draft),
    refusals: refusalsOf(create.error, create.variables, draft),
    onChange: (next: StreamDraft) => {
      sent.onChange(next);
      name.onChange(next);
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
            <div className="flex items-center justify-between">
              <Breadcrumb to="/" title="Streams" here="New stream" />
              {isWide && (
                <RecipesButton isPressed={isChoosing} onClick={() => setChoosing(!isChoosing)} />
              )}
            </div>
            {!isWide && cards}
            {recipe !== undefined && <p className="px-4 pb-3 text-muted">{recipe.text}</p>}
            <Part title="Watch">
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
              {!create.isPending
                ? 'Create stream'
                : added === 0
                  ? 'Creating…'
                  : `${formatCount(added)} of ${formatQuantity(rows.length, 'address', 'addresses')} added…`}
              <kbd aria-hidden="true" className="font-mono text-11 pointer-coarse:hidden">
                Ctrl ↵
              </kbd>
            </Button>
            {attempts > 0 && !ready && (
              <p role="alert" className="min-w-0 flex-1 text-bad">
                {Object.values(problems)[0] ??
                  (isRead ? 'Fix the invalid address lines.' : 'The file is still being read.')}
              </p>
            )}
          </div>
        </form>
        <Side draft={draft} chain={chain} recipes={isWide && cards} isChoosing={isChoosing} />
      </div>
    </SharedDryRun>
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
