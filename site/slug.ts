/**
 * Returns the anchor that GitHub gives a heading, except for the number it adds to repeated
 * headings.
 */
export const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
