import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { settingsQuery } from '../../api.ts';
import { setShortcutsOn, setTheme, THEMES, useShortcutsOn, useTheme } from '../../settings.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copyButton.tsx';
import { ErrorPanel } from '../../ui/errorPanel.tsx';
import { Check } from '../../ui/field.tsx';
import { Segments } from '../../ui/segments.tsx';
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

/** What is the service's as a whole, and what is this browser's alone. */
export function SettingsPage() {
  const theme = useTheme();
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
        <Segments
          label="Theme"
          options={THEMES.map((value) => ({ value, label: THEME_WORDS[value] }))}
          value={theme}
          onChange={setTheme}
        />
        <div className="mt-2">
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
    </div>
  );
}

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
