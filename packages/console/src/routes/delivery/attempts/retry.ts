/** Actions for a delivery that waits for its next attempt. */
export interface RetryActions {
  now: () => void;
  stop: () => void;
  isBusy: boolean;
}
