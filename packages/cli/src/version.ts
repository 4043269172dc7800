/** Version of this package; all packages of Sluice share it. */
export const VERSION = '0.1.0';
