/**
 * Limits the rate of calls: by key for valid keys, and by address for other callers. A second, much
 * lower limit applies to invalid keys. Each process counts separately.
 */
import { isIP } from 'node:net';
import type { Context } from 'hono';
import { RetryLaterError } from '../httpErrors.ts';
import { type Pace, type GrantedTurn, createPacer } from './pacer.ts';

export interface RateLimits {
  /**
   * Counts a call.
   * @throws RetryLaterError 429 if it exceeds the limit.
   */
  takeCall(context: Context, caller: { keyId: string } | { address: string }): void;
  /**
   * Counts an invalid key.
   * @throws RetryLaterError 429 if it exceeds the limit.
   */
  takeFailure(address: string): void;
  /**
   * Records that an address uses the key that the operator chose, which may be guessable. After too
   * many invalid keys, an address cannot use this key either, unless it has used the key before.
   *
   * @throws RetryLaterError 429 if the address cannot use the key.
   */
  takeGuessable(address: string): void;
}

/** Size of the burst that is allowed after a pause, in seconds of the long-term rate. */
const BURST_SECONDS = 10;
/** Rate of callers without a key, which load pages and sign in, relative to the rate of a key. */
const WITHOUT_KEY = 1 / 5;
const FAILURES: Pace = { perSecond: 1, burst: 50 };
const MAX_PLACES = 10_000;
/** Time after which a continuing attack is reported again. */
const WARN_AGAIN_MS = 10 * 60_000;
/**
 * Rate limit for the reports about all addresses together, so that an attack from many addresses
 * cannot fill the disk.
 */
const REPORTS: Pace = { perSecond: 1 / 60, burst: 20 };

/**
 * @param callsPerSecond long-term rate of one key; 0 for no limits.
 * @param onFailures called for an address with too many invalid keys, at most once every 10 minutes
 * per address, and less often during an attack from many addresses.
 */
export function createRateLimits({
  callsPerSecond,
  onFailures,
}: {
  callsPerSecond: number;
  onFailures(address: string): void;
}): RateLimits {
  if (callsPerSecond === 0) {
    return { takeCall() {}, takeFailure() {}, takeGuessable() {} };
  }
  const byKey = createPacer(toPace(callsPerSecond));
  const byAddress = createPacer(toPace(callsPerSecond * WITHOUT_KEY));
  const failures = createPacer(FAILURES);
  const reportsByPlace = createPacer({ perSecond: 1000 / WARN_AGAIN_MS, burst: 1 });
  const reports = createPacer(REPORTS);
  /** Addresses, or networks for IPv6, from which the guessable key was used. */
  const places = new Set<string>();

  const refuse = ({ retryAfterSeconds }: GrantedTurn, what: string): never => {
    const message = `Too many ${what}: try again in ${retryAfterSeconds} s`;
    throw new RetryLaterError(429, message, retryAfterSeconds);
  };

  const takeFailure = (address: string): void => {
    const place = placeOf(address);
    const turn = failures.take(place);
    if (turn.isGranted) return;
    if (reportsByPlace.take(place).isGranted && reports.take('all').isGranted) onFailures(address);
    refuse(turn, 'invalid API keys');
  };

  return {
    takeFailure,
    takeCall(context, caller) {
      const isKnown = 'keyId' in caller;
      const pacer = isKnown ? byKey : byAddress;
      const turn = pacer.take(isKnown ? caller.keyId : placeOf(caller.address));
      const policy = isKnown ? 'key' : 'address';
      context.header('ratelimit-policy', `"${policy}";q=${pacer.burst};w=${BURST_SECONDS}`);
      context.header('ratelimit', `"${policy}";r=${turn.left};t=${turn.resetSeconds}`);
      if (!turn.isGranted) {
        refuse(turn, isKnown ? 'calls with this API key' : 'calls without an API key');
      }
    },
    takeGuessable(address) {
      const place = placeOf(address);
      if (places.has(place)) return;
      if (!failures.mayTake(place)) takeFailure(address);
      if (places.size >= MAX_PLACES) places.clear();
      places.add(place);
    },
  };
}

const toPace = (perSecond: number): Pace => ({
  perSecond,
  burst: Math.max(1, Math.round(perSecond * BURST_SECONDS)),
});

/**
 * Returns the /64 network of an IPv6 address, which usually belongs to one client; returns an IPv4
 * address unchanged.
 */
export function placeOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = [], tail] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array<string>(zeros).fill('0'), ...(tail ?? [])].slice(0, 4).join(':');
}
