/** Reads the colors of the theme, because a canvas does not resolve CSS variables. */
const NAMES = ['line', 'line-strong', 'text', 'muted', 'faint', 'accent'] as const;
const STATE_NAMES = ['info', 'bad', 'reorg', 'warn', 'bg'] as const;
type InkName = (typeof NAMES)[number] | (typeof STATE_NAMES)[number];

export type Inks = Readonly<Record<InkName, string>>;

/** In forced colors, all but the background become the color of text. */
export function readInks(element: HTMLElement): Inks {
  const before = element.style.color;
  const read = (name: InkName): [InkName, string] => {
    element.style.color = `var(--color-${name})`;
    return [name, getComputedStyle(element).color];
  };
  const inks = Object.fromEntries([...NAMES, ...STATE_NAMES].map(read)) as Record<InkName, string>;
  element.style.color = before;
  return inks;
}
