/** Maximum number of lanes of chains. More would push the list of streams off the screen. */
export const SHOWN_CHAINS = 4;
