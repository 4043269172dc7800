import { Link } from '@tanstack/react-router';
import type { WatchedChain } from '../../chains/timeline.ts';
import type { Recipe } from './recipe.ts';
import { recipesFor } from './recipes.ts';

/**
 * Links to each recipe. Selecting a recipe replaces the rules of the draft, and keeps fields such
 * as the tag and the webhook URL.
 */
export function RecipeBar({
  chains,
  current,
}: {
  chains: readonly WatchedChain[];
  current: Recipe | undefined;
}) {
  const recipes = recipesFor(chains);
  if (recipes.length === 0) return null;
  return (
    <nav aria-label="Recipes" className="border-b border-line px-4 pb-3">
      <ul className="-mx-2 flex flex-wrap gap-1">
        {recipes.map(({ id, title, text }) => (
          <li key={id}>
            <Link
              to="/streams/new"
              search={(search) => ({ ...search, recipe: id })}
              // The form keeps its draft, so the link does not warn of unsaved changes.
              replace
              ignoreBlocker
              data-tip={text}
              className="control flex items-center rounded-control px-2 text-12 text-muted hover:text-text aria-[current=page]:bg-raised aria-[current=page]:text-text"
            >
              {title}
            </Link>
          </li>
        ))}
      </ul>
      {current !== undefined && <p className="mt-1 text-12 text-muted">{current.text}</p>}
    </nav>
  );
}
