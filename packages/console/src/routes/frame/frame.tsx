import { isSluiceError } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Outlet, useLocation, useNavigate, useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { chainsQuery } from '../../data/queries/chains.ts';
import { environmentQuery } from '../../data/queries/access.ts';
import { loadClient } from '../../data/queries/service.ts';
import { isFailing, useFleet } from '../../data/fleet.ts';
import { useOverdueChains } from '../../data/overdueChains.ts';
import { loadMenu } from '../../ui/keys/actionList.tsx';
import { useCommandKey, useShortcuts } from '../../ui/keys/keyboard.ts';
import { followLive, useLiveStatus } from '../../data/live/live.ts';
import { PAGES, pageOf } from './pages.ts';
import { useTabState } from './pageState.ts';
import { endSession, signOut, useSession } from '../../data/session.ts';
import { useRecovery } from '../../data/outages.ts';
import { useFocusKeeper } from '../../ui/keys/focusKeeper.ts';
import { usePageName } from '../../ui/pageTitle.ts';
import { Toasts } from '../../ui/toastList.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Loading } from '../../ui/loading.tsx';
import { loadPaletteCommands, Palette } from './palette/palette.tsx';
import { Rail } from './rail.tsx';
import { TopBar } from './topBar.tsx';

const ShortcutList = lazy(async () => ({
  default: (await import('./shortcutList.tsx')).ShortcutList,
}));

/** Delay before prefetching code that is not part of the first load. */
const PREFETCH_MS = 1_000;

/**
 * Shows the rail and the top bar around every page except sign-in. The page itself appears once the
 * session has been checked.
 */
export function Frame() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const router = useRouter();
  const { pathname } = useLocation();
  const [open, setOpen] = useState<'palette' | 'shortcuts' | null>(null);
  const page = pageOf(pathname);
  const { state: liveState } = useLiveStatus();
  const isStale = liveState === 'reconnecting' || liveState === 'closed';

  const isSignedIn = useSession();
  useEffect(() => {
    // Runs the guard of the frame again, which redirects to the sign-in page.
    if (isSignedIn === false) void router.invalidate();
  }, [isSignedIn, router]);

  useEffect(() => {
    if (isSignedIn !== true) return undefined;
    const leaving = new AbortController();
    void followLive(queryClient, leaving.signal, (error) => {
      if (isSluiceError(error, 'unauthorized')) endSession();
    });
    return () => leaving.abort();
  }, [queryClient, isSignedIn]);

  useEffect(() => {
    if (isSignedIn !== true) return undefined;
    const timer = setTimeout(() => {
      loadPaletteCommands().catch(() => {});
      loadClient().catch(() => {});
      loadMenu().catch(() => {});
    }, PREFETCH_MS);
    return () => clearTimeout(timer);
  }, [isSignedIn]);

  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: async () => {
      queryClient.clear();
      await router.invalidate();
    },
  });

  useFocusKeeper();
  useCommandKey('k', () => setOpen('palette'));
  useShortcuts({
    '?': () => setOpen('shortcuts'),
    n: () => void navigate({ to: '/streams/new' }),
    ...Object.fromEntries(PAGES.map(({ key, to }) => [`g ${key}`, () => void navigate({ to })])),
  });

  return (
    <div className="grid h-dvh grid-cols-[minmax(0,1fr)] grid-rows-[44px_minmax(0,1fr)_auto] md:grid-cols-[56px_minmax(0,1fr)] md:grid-rows-[44px_minmax(0,1fr)] lg:grid-cols-[168px_minmax(0,1fr)]">
      <a
        href="#content"
        className="sr-only z-30 rounded-control bg-accent text-bg focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:px-3 focus:py-2"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('content')?.focus();
        }}
      >
        Skip to content
      </a>
      {isSignedIn === true && <TabState title={page.title} />}
      <Rail />
      <TopBar
        title={page.title}
        isSignedIn={isSignedIn === true}
        onSearch={() => setOpen('palette')}
        onShortcuts={() => setOpen('shortcuts')}
        onSignOut={() => leave.mutate()}
      />
      <main
        id="content"
        tabIndex={-1}
        data-stale={isStale || undefined}
        className="row-start-2 min-h-0 min-w-0 overflow-auto outline-none md:col-start-2"
      >
        {leave.isError && (
          <ErrorPanel what="Couldn't sign out" error={leave.error} onRetry={() => leave.mutate()} />
        )}
        {isSignedIn === true ? <Outlet /> : <Loading className="p-4" />}
      </main>
      <Toasts />
      {open === 'palette' && isSignedIn === true && <Palette onClose={() => setOpen(null)} />}
      {open === 'shortcuts' && (
        <Dialog title="Keyboard shortcuts" onClose={() => setOpen(null)} wide>
          <Suspense fallback={<Loading />}>
            <ShortcutList />
          </Suspense>
        </Dialog>
      )}
    </div>
  );
}

/**
 * Sets the title and icon of the browser tab. This is a separate component, so that the frame does
 * not render again when a delivery changes the state of a stream.
 */
function TabState({ title }: { title: string }) {
  const fleet = useFleet();
  const { data: chains } = useQuery(chainsQuery);
  const failing = fleet?.filter(isFailing).length ?? 0;
  const downIds = new Set(fleet?.flatMap(({ down }) => down));
  const down = chains?.filter(({ id }) => downIds.has(id)).map(({ code }) => code) ?? [];
  const { state } = useLiveStatus();
  const { data: environment } = useQuery(environmentQuery);
  const offline = state !== 'live' && state !== 'connecting';
  const name = usePageName();
  const page = name === '' ? title : `${name} · ${title}`;
  useTabState({ page, failing, down: down.join(', '), offline, environment });
  useOverdueChains(state === 'live');
  useRecovery(state === 'live');
  return null;
}
