import { useEffect } from 'react';
import { ThemeSwitch } from '../src/routes/frame/themeSwitch.tsx';
import { OVERLAYS } from './overlays.tsx';
import { SECTIONS } from './sections.tsx';

/**
 * Shows every component in both themes next to each other, and links to what opens above the page.
 * `?show=NAME` shows only one section or overlay, in the theme of the browser, for a picture.
 */
export function Gallery() {
  const shown = new URLSearchParams(location.search).get('show');
  return shown === null ? <All /> : <One name={shown} />;
}

function All() {
  return (
    <main className="mx-auto grid max-w-360 gap-6 p-4">
      <header className="flex items-center gap-4">
        <h1 className="text-16 font-semibold">Components</h1>
        <nav aria-label="Overlays" className="flex flex-wrap gap-4 text-12 text-muted">
          {Object.keys(OVERLAYS).map((name) => (
            <a
              key={name}
              data-example={name}
              href={`?show=${name}`}
              className="min-h-6 py-0.5 hover:underline"
            >
              {name}
            </a>
          ))}
        </nav>
        <span className="ml-auto" />
        <ThemeSwitch />
      </header>
      {Object.entries(SECTIONS).map(([name, Section]) => (
        <section key={name} data-example={name} aria-label={name}>
          <h2 className="caps pb-2">{name}</h2>
          <div className="grid gap-4 lg:grid-cols-2">
            {(['light', 'dark'] as const).map((theme) => (
              <div
                key={theme}
                data-theme={theme}
                className="min-w-0 rounded-overlay border border-line bg-bg p-4 text-text"
              >
                <Section />
              </div>
            ))}
          </div>
        </section>
      ))}
    </main>
  );
}

function One({ name }: { name: string }) {
  const Content = SECTIONS[name] ?? OVERLAYS[name];
  useEffect(() => {
    document.querySelector<HTMLElement>('[data-opens]')?.querySelector('button')?.click();
  }, []);
  return (
    <main aria-label={name} className="p-4">
      {Content === undefined ? `There is no ${name}.` : <Content />}
    </main>
  );
}
