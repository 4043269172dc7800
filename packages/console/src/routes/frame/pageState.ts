/**
 * Shows problems of streams, chains and the connection in the title and favicon, which are visible
 * even if the tab is in the background.
 */
import type { ServiceDetails } from '@sluice/kit/sluice';
import { useEffect } from 'react';

export type PageState = 'fine' | 'failing' | 'offline';

const ICONS: Record<PageState, string> = {
  fine: 'favicon.svg',
  failing: 'favicon-failing.svg',
  offline: 'favicon-offline.svg',
};

export interface TabState {
  page: string;
  failing?: number;
  /** Codes of the watched chains that are down, separated by commas. */
  down?: string;
  offline?: boolean;
  /** Environment of the service; undefined while unknown. */
  environment?: ServiceDetails['environment'] | undefined;
}

/** Builds the title, such as `▲ 1 failing · Streams · Sluice prod`. */
export function titleOf({
  page,
  failing = 0,
  down = '',
  offline = false,
  environment,
}: TabState): string {
  const trouble = [down && `${down} down`, failing > 0 && `${failing} failing`].filter(Boolean);
  const state = offline ? '◌ reconnecting' : trouble.length > 0 ? `▲ ${trouble.join(', ')}` : '';
  const name = environment === undefined ? 'Sluice' : `Sluice ${environment}`;
  return [state, page, name].filter((part) => part !== '').join(' · ');
}

export function useTabState({
  page,
  failing = 0,
  down = '',
  offline = false,
  environment,
}: TabState): void {
  useEffect(() => {
    document.title = titleOf({ page, failing, down, offline, environment });
    const isFailing = failing > 0 || down !== '';
    const state: PageState = offline ? 'offline' : isFailing ? 'failing' : 'fine';
    const href = `${import.meta.env.BASE_URL}${ICONS[state]}`;
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (icon !== null && icon.getAttribute('href') !== href) icon.setAttribute('href', href);
  }, [page, failing, down, offline, environment]);
}
