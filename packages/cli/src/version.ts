/** Of this package; every package of Sluice has the same. */
export const VERSION = '0.1.0';
