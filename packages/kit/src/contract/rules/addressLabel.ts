/**
 * Returns whether a string is a valid address label: at most 64 characters, without control
 * characters. An empty label is valid: it removes the label of the address.
 */
export const isAddressLabel = (text: string): boolean => /^[^\p{Cc}]{0,64}$/u.test(text);
