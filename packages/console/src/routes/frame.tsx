import { isSluiceError } from '@sluice/kit/sluice';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate, useRouter } from '@tanstack/react-router';
import { Keyboard, ListTree, LogOut, Waves } from 'lucide-react';
import { useEffect, useState } from 'react';
import { isFailing, useFleet } from '../fleet.ts';
import { useShortcuts } from '../keyboard.ts';
import { followLive, useLiveStatus } from '../live.ts';
import { usePageState } from '../pageState.ts';
import { endSession, signOut } from '../session.ts';
import { Button } from '../ui/button.tsx';
import { ErrorPanel } from '../ui/errorPanel.tsx';
import { LiveAnnouncement, LiveIndicator } from '../ui/liveIndicator.tsx';
import { Mark } from '../ui/mark.tsx';
import { ShortcutList } from '../ui/shortcutList.tsx';
import { ThemeSwitch } from '../ui/themeSwitch.tsx';

const PAGES = [
  { to: '/', title: 'Streams', Icon: Waves },
  { to: '/deliveries', title: 'Deliveries', Icon: ListTree },
] as const;

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Which service this is: several consoles look alike in one row of tabs. */
function EnvironmentChip() {
  const local = LOOPBACK.test(location.hostname);
  return (
    <span
      title={`Served by ${location.origin}`}
      className="data max-w-40 truncate rounded-control border border-line px-1.5 text-muted"
    >
      {local ? 'local' : location.hostname}
    </span>
  );
}

/** Rail, top bar and the live feed, around every page but sign-in. */
export function Frame() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const router = useRouter();
  const { pathname } = useLocation();
  const [listingShortcuts, setListingShortcuts] = useState(false);
  const page = PAGES.find(({ to }) => to === pathname) ?? PAGES[0];
  const failing = useFleet()?.filter(isFailing).length ?? 0;
  const { state } = useLiveStatus();
  usePageState(page.title, failing, state !== 'live' && state !== 'connecting');

  useEffect(() => {
    const leaving = new AbortController();
    void followLive(queryClient, leaving.signal, (error) => {
      if (!isSluiceError(error, 'unauthorized')) return;
      endSession();
      void router.invalidate();
    });
    return () => leaving.abort();
  }, [queryClient, router]);

  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: async () => {
      queryClient.clear();
      await router.invalidate();
    },
  });

  useShortcuts({
    '?': () => setListingShortcuts(true),
    'g s': () => void navigate({ to: '/' }),
    'g d': () => void navigate({ to: '/deliveries' }),
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
      <header className="flex items-center gap-2 border-b border-line pr-2 pl-4 md:col-start-2 md:gap-3">
        <h1 className="text-14 font-semibold">{page.title}</h1>
        <EnvironmentChip />
        <span className="ml-auto" />
        <LiveIndicator />
        <LiveAnnouncement />
        <span className="flex items-center">
          <Button
            look="quiet"
            square
            className="pointer-coarse:hidden"
            aria-label="Keyboard shortcuts"
            title="Keyboard shortcuts ?"
            onClick={() => setListingShortcuts(true)}
          >
            <Keyboard size={16} strokeWidth={1.5} aria-hidden="true" />
          </Button>
          <ThemeSwitch />
          <Button
            look="quiet"
            square
            aria-label="Sign out"
            title="Sign out"
            onClick={() => leave.mutate()}
          >
            <LogOut size={16} strokeWidth={1.5} aria-hidden="true" />
          </Button>
        </span>
      </header>
      <main
        id="content"
        tabIndex={-1}
        className="min-h-0 min-w-0 overflow-auto outline-none md:col-start-2"
      >
        {leave.isError && (
          <ErrorPanel
            what="You are still signed in"
            error={leave.error}
            onRetry={() => leave.mutate()}
          />
        )}
        <Outlet />
      </main>
      <nav
        aria-label="Pages"
        className="flex border-t border-line md:col-start-1 md:row-span-2 md:row-start-1 md:flex-col md:gap-1 md:border-t-0 md:border-r md:px-2"
      >
        <span className="hidden h-11 items-center justify-center gap-2 font-semibold md:flex lg:justify-start lg:px-2">
          <Mark className="size-4" />
          <span className="sr-only lg:not-sr-only">Sluice</span>
        </span>
        {PAGES.map(({ to, title, Icon }) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: true, includeSearch: false }}
            title={title}
            className="flex h-12 flex-1 items-center justify-center gap-2 text-muted hover:text-text aria-[current=page]:text-text md:h-8 md:flex-none md:rounded-control md:hover:bg-raised md:aria-[current=page]:bg-raised md:pointer-coarse:h-11 lg:justify-start lg:px-2"
          >
            <Icon size={16} strokeWidth={1.5} aria-hidden="true" />
            <span className="md:sr-only lg:not-sr-only">{title}</span>
          </Link>
        ))}
      </nav>
      {listingShortcuts && <ShortcutList onClose={() => setListingShortcuts(false)} />}
    </div>
  );
}
