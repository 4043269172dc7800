/** Recognizes text that the palette looks up: shortened ids and addresses, and labels. */

/**
 * The start of a delivery's id, or an id that is shortened in the middle. Requires the first 8
 * digits, which hold the time, so that a lookup reads few deliveries.
 */
const DELIVERY_ID = /^(?:(?!\d+$)[\da-f]{8}[\da-f-]*(?:(?:…|\.{3})[\da-f-]*)?|0\d{7})$/i;
/** An address that may be incomplete or shortened in the middle. */
const ADDRESS_PART = /^0x[\da-f]{4,64}(?:$|(?:…|\.{3})[\da-f]{0,64}$)/i;
const LABEL = /^(?!0x).{3,100}$/iu;

/** Returns whether the text may be the start of a delivery's id rather than a block number. */
export const isDeliveryStart = (text: string): boolean =>
  text.length <= 40 && DELIVERY_ID.test(text);
export const isLabelLike = (text: string): boolean => LABEL.test(text) || ADDRESS_PART.test(text);
