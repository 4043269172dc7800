import type { RefObject } from 'react';
import { useShortcuts } from '../keyboard.ts';

/** `j` and `k` move the focus along the links marked `data-row-link`, a row to each. */
export function useRowKeys(list: RefObject<HTMLElement | null>): void {
  const move = (step: 1 | -1): void => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>('[data-row-link]') ?? [])];
    const focused = document.activeElement?.closest('[data-row]');
    const at = links.findIndex((link) => focused?.contains(link));
    const next = at === -1 ? (step === 1 ? 0 : links.length - 1) : at + step;
    links[Math.min(links.length - 1, Math.max(0, next))]?.focus();
  };
  useShortcuts({ j: () => move(1), k: () => move(-1) });
}
