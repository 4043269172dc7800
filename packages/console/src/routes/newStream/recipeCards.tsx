import { Link } from '@tanstack/react-router';
import type { WatchedChain } from '../../chains/timeline.ts';
import type { NewStreamSearch } from '../../data/search.ts';
import { Picture } from './pictures.tsx';
import '../../ui/form/choiceCard.css';
import './recipeCards.css';
import type { Recipe } from './recipe.ts';
import { recipesFor } from './recipes.ts';

/**
 * Links to each recipe, with a picture and an example. Selecting a recipe replaces the rules of the
 * draft, and keeps fields such as the tag and the webhook URL.
 */
export function RecipeCards({
  chains,
  current,
  form,
  onChoose,
}: {
  chains: readonly WatchedChain[];
  current?: Recipe | undefined;
  /** Search params of the form around the cards; undefined on other pages. */
  form?: NewStreamSearch;
  onChoose?: () => void;
}) {
  const recipes = recipesFor(chains);
  if (recipes.length === 0) return null;
  return (
    <nav aria-label="Recipes">
      <ul className="recipe-cards">
        {recipes.map(({ id, title, picture, example }) => (
          <li key={id}>
            <Link
              to="/streams/new"
              search={{ ...form, recipe: id }}
              // The form keeps its draft, so the link does not warn of unsaved changes.
              replace={form !== undefined}
              ignoreBlocker={form !== undefined}
              aria-current={id === current?.id ? 'page' : undefined}
              onClick={onChoose}
              className="choice-card"
            >
              <Picture name={picture} />
              <span className="mt-2 font-medium">{title}</span>{' '}
              <span className="text-12 text-muted">{example}</span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
