/** Resolves complete and shortened ids. */
import type { SluiceClient } from '@sluice/kit/sluice';
import { findDeliveryIds, isShortId, matchIds } from '@sluice/kit/operator';
import { CommandError } from '../terminal/errors.ts';

/** Shortens an id for display; commands accept the short form. */
export const shortenId = (id: string): string => id.slice(0, 8);

const SHOWN = 5;

/**
 * Returns the only id, or undefined if there is none.
 *
 * @throws CommandError `usage` that lists the candidates if several ids match.
 */
function takeOne(given: string, found: readonly string[], what: string): string | undefined {
  if (found.length <= 1) return found[0];
  const more = found.length > SHOWN ? `, and ${found.length - SHOWN} more` : '';
  throw new CommandError(
    'usage',
    `${given} matches ${found.length} ${what}`,
    `pass one of: ${found.slice(0, SHOWN).join(', ')}${more}`,
  );
}

/**
 * Returns the only id that matches, or undefined if none does.
 *
 * @throws CommandError `usage` that lists the candidates if several match.
 */
export const chooseId = (given: string, ids: readonly string[], what: string): string | undefined =>
  takeOne(given, matchIds(given, ids), what);

/**
 * Returns the complete id of a delivery. Text that is not a shortened id is returned unchanged.
 *
 * @throws CommandError as {@link chooseId}; `not_found` if none of the newest 10,000 deliveries
 * matches.
 */
export async function findDeliveryId(sluice: SluiceClient, given: string): Promise<string> {
  if (!isShortId(given) && !/^\d+$/.test(given)) return given;
  const found = takeOne(given, await findDeliveryIds(sluice, given), 'deliveries');
  if (found !== undefined) return found;
  throw new CommandError(
    'not_found',
    `None of the newest 10,000 deliveries matches the ID ${given}`,
    'pass the complete ID: sluice deliveries list --wide',
  );
}

/** Returns the only id of a complete list that matches, or the given text if none does. */
async function findListed(
  given: string,
  what: string,
  list: () => Promise<readonly { id: string }[]>,
): Promise<string> {
  if (!isShortId(given) && !/^\d+$/.test(given)) return given;
  const ids = (await list()).map(({ id }) => id);
  return chooseId(given, ids, what) ?? given;
}

/**
 * Returns the complete id of a replay, or the given text if no replay matches.
 *
 * @throws CommandError as {@link chooseId}.
 */
export const findReplayId = (sluice: SluiceClient, given: string): Promise<string> =>
  findListed(given, 'replays', () => sluice.listReplays());

/** The same as {@link findReplayId} for the newest 100 backfills. */
export const findBackfillId = (sluice: SluiceClient, given: string): Promise<string> =>
  findListed(given, 'backfills', () => sluice.listJobs());
