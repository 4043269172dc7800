import { useQuery } from '@tanstack/react-query';
import { clsx } from 'clsx';
import { Keyboard, LogOut, Search } from 'lucide-react';
import { environmentQuery } from '../../data/queries/access.ts';
import { ENVIRONMENT_CONDITIONS } from '../../words/condition.ts';
import { Button, Keycap } from '../../ui/button.tsx';
import { LiveAnnouncement, LiveIndicator } from './liveIndicator.tsx';
import { Status } from '../../ui/status.tsx';
import { ThemeSwitch } from './themeSwitch.tsx';
import { ZoneSwitch } from './zoneSwitch.tsx';

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.platform);

/**
 * Shows the environment of the service, because consoles look alike, and its host unless the host
 * is local. Reserves the space until the environment is known.
 */
function EnvironmentChip({ isSignedIn }: { isSignedIn: boolean }) {
  const { data: environment } = useQuery({ ...environmentQuery, enabled: isSignedIn });
  return (
    <span
      className="flex min-w-16 shrink-0 items-center gap-2"
      data-tip={`Served by ${location.origin}`}
    >
      {environment !== undefined && (
        <span
          className={clsx(
            'data rounded-control border px-1.5',
            environment === 'prod' ? 'border-warn' : 'border-line',
          )}
        >
          <Status condition={ENVIRONMENT_CONDITIONS[environment]} />
        </span>
      )}
      {!LOOPBACK.test(location.hostname) && (
        <span className="data max-w-40 truncate text-muted max-sm:hidden">{location.hostname}</span>
      )}
    </span>
  );
}

export function TopBar({
  title,
  isSignedIn,
  onSearch,
  onShortcuts,
  onSignOut,
}: {
  title: string;
  /** Whether the session has been checked, so that data can be loaded. */
  isSignedIn: boolean;
  onSearch: () => void;
  onShortcuts: () => void;
  onSignOut: () => void;
}) {
  return (
    <header className="row-start-1 flex items-center gap-2 border-b border-line pr-2 pl-4 md:col-start-2 md:gap-3">
      <h1 className="truncate text-14 font-semibold">{title}</h1>
      <EnvironmentChip isSignedIn={isSignedIn} />
      <button
        type="button"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={onSearch}
        className="control mx-auto flex min-w-0 items-center gap-2 rounded-control px-2 text-12 text-faint hover:text-text md:w-80 md:border md:border-line md:hover:border-line-strong"
      >
        <Search size={14} strokeWidth={1.5} aria-hidden="true" className="shrink-0" />
        <span className="truncate max-md:sr-only">Search or paste an address, hash, ID…</span>
        <span className="ml-auto max-md:hidden">
          <Keycap>{IS_APPLE ? '⌘K' : 'Ctrl K'}</Keycap>
        </span>
      </button>
      <LiveIndicator />
      <LiveAnnouncement />
      <span className="flex items-center">
        <Button
          variant="quiet"
          square
          className="pointer-coarse:hidden"
          aria-label="Keyboard shortcuts"
          data-tip="Keyboard shortcuts (?)"
          onClick={onShortcuts}
        >
          <Keyboard size={16} strokeWidth={1.5} aria-hidden="true" />
        </Button>
        <ZoneSwitch className="max-sm:hidden" />
        <ThemeSwitch />
        <Button
          variant="quiet"
          square
          aria-label="Sign out"
          data-tip="Sign out"
          onClick={onSignOut}
        >
          <LogOut size={16} strokeWidth={1.5} aria-hidden="true" />
        </Button>
      </span>
    </header>
  );
}
