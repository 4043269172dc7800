import type { RefObject } from 'react';
import { useShortcuts } from './keyboard.ts';

/**
 * Moves the focus between the rows' `data-row-link` links with `j` and `k`.
 *
 * @returns a function that moves the focus and returns the id of the newly focused row; undefined
 * without rows.
 */
export function useRowKeys(
  list: RefObject<HTMLElement | null>,
): (step: 1 | -1) => string | undefined {
  const move = (step: 1 | -1): string | undefined => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>('[data-row-link]') ?? [])];
    const focused = document.activeElement?.closest('[data-row]');
    const at = links.findIndex((link) => focused?.contains(link));
    const next = at === -1 ? (step === 1 ? 0 : links.length - 1) : at + step;
    const link = links[Math.min(links.length - 1, Math.max(0, next))];
    link?.focus();
    return link?.dataset['rowLink'];
  };
  useShortcuts({ j: () => void move(1), k: () => void move(-1) });
  return move;
}
