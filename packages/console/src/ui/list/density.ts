/** How high a row of a list is, in pixels; `--density` of styles.css is the same. */
export const DENSITIES = { compact: 28, standard: 32, comfortable: 40 } as const;
export type Density = keyof typeof DENSITIES;
export const DENSITY_NAMES = Object.keys(DENSITIES) as Density[];

/** How much higher a row is that has a second line; `--row-of-two` of styles.css is the same. */
export const SECOND_LINE_PX = 24;

/** What a finger hits; `--row` of styles.css is the same. */
export const TOUCHED_PX = 44;

export const isDensity = (name: string): name is Density => Object.hasOwn(DENSITIES, name);
