import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DENSITIES, SECOND_LINE_PX, TOUCHED_PX } from './ui/list/density.ts';

const css = readFileSync(new URL('styles.css', import.meta.url), 'utf8');

type Oklch = [lightness: number, chroma: number, hue: number];

/** Light and dark color by name, from every `--color-x: light-dark(oklch(…), oklch(…))`. */
const tokens = new Map(
  [...css.matchAll(/--color-([\w-]+): light-dark\(oklch\(([^)]+)\), oklch\(([^)]+)\)\)/g)].map(
    ([, name = '', light = '', dark = '']) => [
      name,
      [light, dark].map((text) => text.split(' ').map(Number) as Oklch) as [Oklch, Oklch],
    ],
  ),
);

/** Returns the relative luminance (WCAG) of an OKLCH color, via linear sRGB. */
function luminance([lightness, chroma, hue]: Oklch): number {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const clamp = (value: number): number => Math.min(1, Math.max(0, value));
  return (
    0.2126 * clamp(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s) +
    0.7152 * clamp(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s) +
    0.0722 * clamp(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s)
  );
}

function contrast(one: Oklch, other: Oklch): number {
  const [high, low] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
}

const colorOf = (name: string, theme: 0 | 1): Oklch => {
  const pair = tokens.get(name);
  if (pair === undefined) throw new Error(`styles.css has no token ${name}`);
  return pair[theme];
};

const BACKGROUNDS = ['bg', 'surface', 'raised'];
const TEXTS = ['text', 'muted', 'faint', 'accent', 'ok', 'warn', 'bad', 'info', 'reorg'];

test.each([
  ['light', 0],
  ['dark', 1],
] as const)('every %s text token is readable on every background', (_, theme) => {
  for (const background of BACKGROUNDS) {
    for (const text of TEXTS) {
      const ratio = contrast(colorOf(text, theme), colorOf(background, theme));
      expect(ratio, `${text} on ${background}`).toBeGreaterThanOrEqual(4.5);
    }
    const border = contrast(colorOf('line-strong', theme), colorOf(background, theme));
    expect(border, `line-strong on ${background}`).toBeGreaterThanOrEqual(3);
  }
});

test('row heights in CSS and TypeScript are the same', () => {
  const heights = new Map(
    [...css.matchAll(/(?:\[data-density='(\w+)'\]|:root) \{\s*--density: (\d+)px;/g)].map(
      ([, name = 'standard', px]) => [name, Number(px)],
    ),
  );
  expect(Object.fromEntries(heights)).toEqual(DENSITIES);
  expect(css).toContain(`--row-of-two: calc(var(--density) + ${SECOND_LINE_PX}px);`);
  expect(css).toContain(`--row: max(${TOUCHED_PX}px, var(--density));`);
});
