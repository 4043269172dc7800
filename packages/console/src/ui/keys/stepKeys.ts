/** Number of steps that Page Up and Page Down move. */
const PAGE_STEPS = 10;

/** Returns the number of steps by which a key moves a cursor on a time axis; undefined for others. */
export const stepOfKey = (key: string, count: number): number | undefined =>
  ({
    ArrowLeft: -1,
    ArrowRight: 1,
    PageUp: -PAGE_STEPS,
    PageDown: PAGE_STEPS,
    Home: -count,
    End: count,
  })[key];
