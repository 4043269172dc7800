/**
 * Who may call, what signs a stream's webhooks, and the record of both. Times are Unix milliseconds.
 */

/**
 * What a key may do. `streams:read` and `streams:write`: streams, their addresses, dry runs and
 * chains · `history:read`: deliveries with their bodies, logs, counts, jobs, live events · `replay`:
 * send again, and send past blocks · `settings:admin`: settings, secrets, keys, halted chains, the
 * audit log.
 */
export const SCOPES = [
  'streams:read',
  'streams:write',
  'history:read',
  'replay',
  'settings:admin',
] as const;

/** One thing a key may do. */
export type Scope = (typeof SCOPES)[number];

/** A key to be made. */
export interface CreateApiKey {
  /** What it is for, 1 to 100 characters. */
  name: string;
  /** Default: all of them. */
  scopes?: Scope[] | undefined;
  /** At most 20. Default: from anywhere. */
  cidrs?: string[] | undefined;
  /** Default: never. */
  expiresAt?: number | undefined;
}

/** How a secret is replaced. */
export interface RotateStreamSecret {
  /** How long the old secrets sign beside the new one, at most 30 days; 0: not at all. Default: a day. */
  overlapSeconds?: number | undefined;
}
