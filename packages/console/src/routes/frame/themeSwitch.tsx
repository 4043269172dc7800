import { Monitor, Moon, Sun } from 'lucide-react';
import { setTheme, THEMES, useTheme } from '../../ui/preferences.ts';
import { Button } from '../../ui/button.tsx';

const ICONS = { system: Monitor, light: Sun, dark: Moon } as const;

/** A button that cycles through the system, light and dark themes. */
export function ThemeSwitch() {
  const theme = useTheme();
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
  const Icon = ICONS[theme];
  const label = `Theme: ${theme}. Switch to ${next}`;
  return (
    <Button
      variant="quiet"
      square
      aria-label={label}
      data-tip={label}
      onClick={() => setTheme(next)}
    >
      <Icon size={16} strokeWidth={1.5} aria-hidden="true" />
    </Button>
  );
}
