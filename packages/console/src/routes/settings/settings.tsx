import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { useState } from 'react';
import { aboutQuery, expiryQuery, settingsQuery } from '../../data/queries/access.ts';
import { DENSITY_NAMES } from '../../ui/list/density.ts';
import { formatBytes, formatDateTime, formatQuantity, formatSpan } from '../../ui/text/format.ts';
import {
  setDensity,
  setShortcutsOn,
  setTheme,
  THEMES,
  useDensity,
  useShortcutsOn,
  useTheme,
} from '../../ui/preferences.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/text/copyButton.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Check } from '../../ui/form/field.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Segments } from '../../ui/form/segments.tsx';
import { Keys } from './keys.tsx';
import { Transfer } from './transfer.tsx';

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section aria-label={title} className="border-b border-line px-4 py-4">
      <h2 className="caps mb-2">{title}</h2>
      {children}
    </section>
  );
}

const THEME_WORDS = { system: 'As the system', light: 'Light', dark: 'Dark' } as const;
const DENSITY_WORDS = {
  compact: 'Compact',
  standard: 'Standard',
  comfortable: 'Comfortable',
} as const;

/** What is the service's as a whole, and what is this browser's alone. */
export function SettingsPage() {
  const theme = useTheme();
  const density = useDensity();
  const shortcutsOn = useShortcutsOn();
  return (
    <div className="max-w-180">
      <Section title="Signing secret">
        <Secret />
      </Section>
      <Section title="API keys">
        <Keys />
      </Section>
      <Section title="Appearance">
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-6 gap-y-2 max-sm:grid-cols-1">
          <dt>Theme</dt>
          <dd>
            <Segments
              label="Theme"
              options={THEMES.map((value) => ({ value, label: THEME_WORDS[value] }))}
              value={theme}
              onChange={setTheme}
            />
          </dd>
          <dt>Rows of lists</dt>
          <dd>
            <Segments
              label="Rows of lists"
              options={DENSITY_NAMES.map((value) => ({ value, label: DENSITY_WORDS[value] }))}
              value={density}
              onChange={setDensity}
            />
          </dd>
        </dl>
        <div className="mt-3">
          <Check
            label="Single-letter shortcuts"
            help="off where they get in the way of a screen reader"
            checked={shortcutsOn}
            onChange={(event) => setShortcutsOn(event.target.checked)}
          />
        </div>
      </Section>
      <Section title="Export and import">
        <Transfer />
      </Section>
      <Section title="Audit log">
        <p className="text-muted">
          Who read or changed what lets somebody in, sent again or deleted. Each record holds the
          hash of the one before it.
        </p>
        <Link to="/settings/audit" className={clsx(buttonClass('plain'), 'mt-2')}>
          Open the audit log
        </Link>
      </Section>
      <AboutSections />
    </div>
  );
}

/** What the flags say that the service was started with: read here, changed there. */
function AboutSections() {
  const about = useQuery(aboutQuery);
  if (about.isError) {
    return (
      <ErrorPanel
        what="What this service is could not be read"
        error={about.error}
        onRetry={() => void about.refetch()}
      />
    );
  }
  if (about.data === undefined) return <Loading className="p-4" />;
  const { version, environment, store, deliveredMs, undeliveredMs, oldestDeliveryAt } = about.data;
  return (
    <>
      <Section title="Retention">
        <p className="text-muted">
          With their bodies and attempts, deliveries are kept for a time; then they are gone, from
          lists and counts of lists as well. Totals stay.
        </p>
        <dl className="mt-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-1 sm:grid-cols-[auto_auto_minmax(0,1fr)]">
          <dt>Delivered or cancelled</dt>
          <dd className="data">{formatSpan(deliveredMs)}</dd>
          <dd className="data text-faint max-sm:col-span-2">--keep-delivered</dd>
          <dt>All others</dt>
          <dd className="data">{formatSpan(undeliveredMs)}</dd>
          <dd className="data text-faint max-sm:col-span-2">--keep-undelivered</dd>
          <dt>The oldest was made</dt>
          <dd className="data col-span-1 sm:col-span-2">
            {oldestDeliveryAt === null ? 'there is none' : formatDateTime(oldestDeliveryAt)}
          </dd>
          <dt>About to go</dt>
          <dd className="data col-span-1 sm:col-span-2">
            <AboutToGo />
          </dd>
        </dl>
        <p className="mt-2 text-12 text-faint">
          Set where the service is started.
          {store === 'postgres' && ' What is old goes a day of blocks at once, up to a day later.'}
        </p>
      </Section>
      <Section title="About">
        <p>
          Sluice <span className="data">{version}</span>, run as{' '}
          <span className="data">{environment}</span>, its ledger in{' '}
          {store === 'sqlite' ? 'SQLite' : 'PostgreSQL'}.
        </p>
        <ul className="mt-1 flex flex-wrap gap-x-4">
          {ABOUT_LINKS.map(({ href, label }) => (
            <li key={href}>
              <a
                href={href}
                className="inline-block min-h-6 text-accent underline underline-offset-2"
              >
                {label}
              </a>
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}

function AboutToGo() {
  const { data, error } = useQuery(expiryQuery);
  if (data === undefined) {
    return error === null ? (
      <span className="animate-late text-faint">counting</span>
    ) : (
      <span className="text-bad">not known: {error.message}</span>
    );
  }
  const { at, deliveries, bodyBytes, isCapped } = data;
  const when = at === null ? '' : ` ${formatDateTime(at)}`;
  if (deliveries === 0) return <>none at the next run,{when || ' which is soon'}</>;
  return (
    <>
      {isCapped && 'at least '}
      {formatQuantity(deliveries, 'delivery', 'deliveries')}, {isCapped && 'at least '}
      {formatBytes(bodyBytes)} of bodies, at the next run,{when || ' which is soon'}
    </>
  );
}

const ABOUT_LINKS = [
  { href: '/openapi.json', label: 'API as OpenAPI 3.1' },
  { href: '/health', label: 'Health as JSON' },
];

/** Shown when asked for: somebody may be looking over a shoulder. */
function Secret() {
  const [shown, setShown] = useState(false);
  const settings = useQuery({ ...settingsQuery, enabled: shown });
  const secret = settings.data?.secretKey;
  return (
    <>
      <p className="text-muted">
        Signs every webhook of this service. A receiver verifies with it; whoever has it can forge
        webhooks.
      </p>
      {settings.isError && (
        <ErrorPanel
          what="The secret could not be read"
          error={settings.error}
          onRetry={() => void settings.refetch()}
        />
      )}
      {shown && settings.isSuccess && secret === undefined && (
        <p className="mt-2">
          This service tells its secret to nobody: it runs with --hide-secrets.
        </p>
      )}
      <div className="mt-2 flex flex-wrap items-center gap-2">
        {shown && secret !== undefined ? (
          <>
            <code className="data min-w-0 break-all">{secret}</code>
            <CopyButton text={secret} label="Copy secret" />
            <Button look="quiet" onClick={() => setShown(false)}>
              Hide
            </Button>
          </>
        ) : (
          <Button disabled={settings.isFetching} onClick={() => setShown(true)}>
            Reveal secret
          </Button>
        )}
      </div>
    </>
  );
}
