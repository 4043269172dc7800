/** Title and favicon say what the page would, for a tab in the background. */
import { useEffect } from 'react';

export type PageState = 'fine' | 'failing' | 'offline';

const ICONS: Record<PageState, string> = {
  fine: 'favicon.svg',
  failing: 'favicon-failing.svg',
  offline: 'favicon-offline.svg',
};

/** `▲ 1 failing · Streams · Sluice`. */
export function titleOf(page: string, failing: number, offline: boolean): string {
  const state = offline ? '◌ reconnecting' : failing > 0 ? `▲ ${failing} failing` : '';
  return [state, page, 'Sluice'].filter((part) => part !== '').join(' · ');
}

export function usePageState(page: string, failing: number, offline: boolean): void {
  useEffect(() => {
    document.title = titleOf(page, failing, offline);
    const state: PageState = offline ? 'offline' : failing > 0 ? 'failing' : 'fine';
    const href = `${import.meta.env.BASE_URL}${ICONS[state]}`;
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (icon !== null && icon.getAttribute('href') !== href) icon.setAttribute('href', href);
  }, [page, failing, offline]);
}
