/** Applies the recipe of a link to the draft of a new stream. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import type { ListedAddress } from '@sluice/kit/operator';
import type { WatchedChain } from '../../chains/timeline.ts';
import { contractQuery } from '../../data/queries/chains.ts';
import { DRAFT_FAMILIES } from '../../families/draftFamilies.ts';
import { readDraft, storeDraft } from '../../ui/form/storedDrafts.ts';
import type { StreamDraft } from '../streamForm/draft/draft.ts';
import { readEdits, toEdits, toStored, withEdits } from '../streamForm/draft/edits.ts';
import { unitOf } from '../streamForm/draft/tokenAmount.ts';
import { firstChains } from '../streamForm/watchPart.tsx';
import type { FieldToFill, Recipe } from './recipe.ts';
import { nameOfRecipe, withRecipe } from './recipes.ts';

/**
 * Holds the draft, stores it in the browser until it is created or discarded, and applies each
 * selected recipe to it with `withRecipe`.
 *
 * @param name name of the stored draft, one for each link to the page.
 */
export function useRecipe(
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
export function focusNext(form: HTMLFormElement | null, toFill: readonly FieldToFill[]): void {
  const fields = toFill.flatMap((name) => [
    ...(form?.querySelectorAll<HTMLInputElement>(`[data-field=${name}]`) ?? []),
  ]);
  (fields.find(({ value }) => value === '') ?? form?.querySelector('textarea'))?.focus();
}

/** If a recipe is selected, names the stream with `nameOfRecipe` until the user enters a name. */
export function useName(
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
