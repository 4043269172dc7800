/** Actions for a delivery that waits for its next attempt. */
export interface Retry {
  now: () => void;
  stop: () => void;
  isBusy: boolean;
}
