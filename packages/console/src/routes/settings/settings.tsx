import type { ServiceDetails } from '@sluice/kit/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { useState } from 'react';
import { aboutQuery, expiryQuery, settingsQuery } from '../../data/queries/access.ts';
import { DENSITY_NAMES } from '../../ui/list/density.ts';
import { formatBytes, formatQuantity, formatSpan } from '../../ui/text/format.ts';
import {
  AGE_STYLES,
  THEMES,
  ZONES,
  setAgeStyle,
  setDensity,
  setShortcutsOn,
  setTheme,
  setZone,
  useAgeStyle,
  useDensity,
  useShortcutsOn,
  useTheme,
  useZone,
} from '../../ui/preferences.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/text/copyButton.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Check } from '../../ui/form/field.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Segments } from '../../ui/form/segments.tsx';
import { AlertUrls } from './alertUrls.tsx';
import { Keys } from './keys.tsx';
import { PublicKeys } from './publicKeys.tsx';
import { StreamTransfer } from './transfer.tsx';
import { DateTime } from '../../ui/text/time.tsx';

/** Renders a section; links find it by its title, such as `#public-keys`. */
function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section
      id={title.toLowerCase().replaceAll(' ', '-')}
      aria-label={title}
      className="border-b border-line px-4 py-4"
    >
      <h2 className="caps mb-2">{title}</h2>
      {children}
    </section>
  );
}

const THEME_WORDS = { system: 'System', light: 'Light', dark: 'Dark' } as const;
const DENSITY_WORDS = {
  compact: 'Compact',
  standard: 'Standard',
  comfortable: 'Comfortable',
} as const;

const ZONE_WORDS = {
  local: `Local (${Intl.DateTimeFormat().resolvedOptions().timeZone})`,
  utc: 'UTC',
} as const;

const AGE_STYLE_WORDS = { relative: 'Relative, 3m ago', absolute: 'Absolute, 10:38' } as const;

/** Shows settings of the service, and preferences that are stored only in this browser. */
export function SettingsPage() {
  const theme = useTheme();
  const density = useDensity();
  const shortcutsOn = useShortcutsOn();
  const zone = useZone();
  const ageStyle = useAgeStyle();
  return (
    <div className="max-w-180">
      <Section title="Signing secret">
        <Secret />
      </Section>
      <Section title="Public keys">
        <PublicKeys />
      </Section>
      <Section title="API keys">
        <Keys />
      </Section>
      <Section title="Alerts">
        <AlertUrls />
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
          <dt>Row height</dt>
          <dd>
            <Segments
              label="Row height"
              options={DENSITY_NAMES.map((value) => ({ value, label: DENSITY_WORDS[value] }))}
              value={density}
              onChange={setDensity}
            />
          </dd>
          <dt>Time zone</dt>
          <dd>
            <Segments
              label="Time zone"
              options={ZONES.map((value) => ({ value, label: ZONE_WORDS[value] }))}
              value={zone}
              onChange={setZone}
            />
          </dd>
          <dt>Ages</dt>
          <dd>
            <Segments
              label="Ages"
              options={AGE_STYLES.map((value) => ({ value, label: AGE_STYLE_WORDS[value] }))}
              value={ageStyle}
              onChange={setAgeStyle}
            />
          </dd>
        </dl>
        <div className="mt-3">
          <Check
            label="Single-key shortcuts"
            help="Turn these off if they conflict with your screen reader."
            checked={shortcutsOn}
            onChange={(event) => setShortcutsOn(event.target.checked)}
          />
        </div>
      </Section>
      <Section title="Export and import">
        <StreamTransfer />
      </Section>
      <Section title="Audit log">
        <p className="text-muted">
          Records sign-ins, changes to keys and settings, access to secrets, replays and deletions.
          Each record contains the hash of the previous one.
        </p>
        <Link to="/settings/audit" className={clsx(buttonClass('plain'), 'mt-2')}>
          Open the audit log
        </Link>
      </Section>
      <Section title="API">
        <p className="text-muted">
          The reference lists all API calls of this service, with their fields, scopes and errors.
          You can try calls with the permissions of your session.
        </p>
        <Link to="/settings/api" className={clsx(buttonClass('plain'), 'mt-2')}>
          Open the API reference
        </Link>
      </Section>
      <AboutSections />
    </div>
  );
}

/** Names of the databases, with notes on retention. */
const DATABASES: Readonly<
  Record<ServiceDetails['database'], { name: string; retention?: string }>
> = {
  sqlite: { name: 'SQLite' },
  postgres: {
    name: 'PostgreSQL',
    retention: ' PostgreSQL deletes entire days, so deliveries can be kept up to a day longer.',
  },
};

/** Shows the retention and details of the service, which are set when the service starts. */
function AboutSections() {
  const about = useQuery(aboutQuery);
  if (about.isError) {
    return (
      <ErrorPanel
        what="Couldn't load service details"
        error={about.error}
        onRetry={() => void about.refetch()}
      />
    );
  }
  if (about.data === undefined) return <Loading className="p-4" />;
  const { version, environment, database, deliveredMs, undeliveredMs, oldestDeliveryAt } =
    about.data;
  return (
    <>
      <Section title="Retention">
        <p className="text-muted">
          Deliveries, with their bodies and attempts, are deleted after these periods. Lists and
          counts then omit them; totals still include them.
        </p>
        <dl className="mt-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-1 sm:grid-cols-[auto_auto_minmax(0,1fr)]">
          <dt>Delivered or canceled</dt>
          <dd className="data">{formatSpan(deliveredMs)}</dd>
          <dd className="data text-faint max-sm:col-span-2">--keep-delivered</dd>
          <dt>Other deliveries</dt>
          <dd className="data">{formatSpan(undeliveredMs)}</dd>
          <dd className="data text-faint max-sm:col-span-2">--keep-undelivered</dd>
          <dt>Oldest delivery</dt>
          <dd className="data col-span-1 sm:col-span-2">
            {oldestDeliveryAt === null ? 'none' : <DateTime timeMs={oldestDeliveryAt} />}
          </dd>
          <dt>Next deletion</dt>
          <dd className="data col-span-1 sm:col-span-2">
            <AboutToGo />
          </dd>
        </dl>
        <p className="mt-2 text-12 text-faint">
          Set by flags when the service starts.
          {DATABASES[database].retention}
        </p>
      </Section>
      <Section title="About">
        <p>
          Sluice <span className="data">{version}</span> ·{' '}
          <span className="data">{environment}</span> · {DATABASES[database].name}
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
      <span className="text-bad">unknown: {error.message}</span>
    );
  }
  const { at, deliveries, bodyBytes, isCapped } = data;
  const more = isCapped ? '≥ ' : '';
  return (
    <>
      {more}
      {formatQuantity(deliveries, 'delivery', 'deliveries')} · {more}
      {formatBytes(bodyBytes)} of bodies · next run:{' '}
      {at === null ? 'soon' : <DateTime timeMs={at} />}
    </>
  );
}

const ABOUT_LINKS = [
  { href: '/openapi.json', label: 'OpenAPI 3.1' },
  { href: '/health', label: 'Health (JSON)' },
];

/** Shows the streams secret only after the user reveals it, so that it is not shown by accident. */
function Secret() {
  const [shown, setShown] = useState(false);
  const settings = useQuery({ ...settingsQuery, enabled: shown });
  const secret = settings.data?.secretKey;
  return (
    <>
      <p className="text-muted">
        The streams secret signs the webhooks of every stream: x-signature alone, and
        webhook-signature together with the stream’s own secret. Anyone who has the streams secret
        can forge webhooks of any stream, so give receivers that verify webhook-signature only the
        secret of their stream.
      </p>
      {settings.isError && (
        <ErrorPanel
          what="Couldn't load the secret"
          error={settings.error}
          onRetry={() => void settings.refetch()}
        />
      )}
      {shown && settings.isSuccess && secret === undefined && (
        <p className="mt-2">
          This service does not reveal its secret because it runs with --hide-secrets.
        </p>
      )}
      <div className="mt-2 flex flex-wrap items-center gap-2">
        {shown && secret !== undefined ? (
          <>
            <code className="data min-w-0 break-all">{secret}</code>
            <CopyButton text={secret} label="Copy secret" />
            <Button variant="quiet" onClick={() => setShown(false)}>
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
