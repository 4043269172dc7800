/** Row heights in pixels; must match `--density` in styles.css. */
export const DENSITIES = { compact: 28, standard: 32, comfortable: 40 } as const;
export type Density = keyof typeof DENSITIES;
export const DENSITY_NAMES = Object.keys(DENSITIES) as Density[];

/** Extra height of a second line; must match `--row-of-two` in styles.css. */
export const SECOND_LINE_PX = 24;

/** Minimum height of a row on touch devices; must match `--row` in styles.css. */
export const TOUCHED_PX = 44;

export const isDensity = (name: string): name is Density => Object.hasOwn(DENSITIES, name);
