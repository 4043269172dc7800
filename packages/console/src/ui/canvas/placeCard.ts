/** Width of a card in pixels. */
const CARD = 264;

/**
 * Places a card below a part of a picture, centered under it and within the picture.
 * @param part left edge and width of the part, in pixels
 * @param picture width of the picture, and the top edge of the card, in pixels
 */
export function placeCard(
  part: { x: number; width: number },
  picture: { width: number; top: number },
): React.CSSProperties {
  const width = Math.min(CARD, picture.width);
  const middle = part.x + part.width / 2;
  const left = Math.max(0, Math.min(picture.width - width, middle - width / 2));
  return { top: picture.top, left, width };
}
