/** The one id that somebody means, whole or shortened; several that fit are named. */
import { type SluiceClient, findDeliveryIds, isShortId, matchIds } from '@sluice/kit/sluice';
import { CommandError } from '../terminal/errors.ts';

const SHOWN = 5;

/** @throws CommandError `usage` with the candidates where several ids fit. */
function takeOne(given: string, found: readonly string[], what: string): string | undefined {
  if (found.length <= 1) return found[0];
  const more = found.length > SHOWN ? `, and ${found.length - SHOWN} more` : '';
  throw new CommandError(
    'usage',
    `${given} is short for ${found.length} ${what}`,
    `name one: ${found.slice(0, SHOWN).join(', ')}${more}`,
  );
}

/**
 * Chooses the one of these ids that is meant; undefined where none is.
 *
 * @throws CommandError `usage` with the candidates where several are.
 */
export const chooseId = (given: string, ids: readonly string[], what: string): string | undefined =>
  takeOne(given, matchIds(given, ids), what);

/**
 * The whole id of the delivery that is meant. What is not a shortened id is returned as it is.
 *
 * @throws CommandError as {@link chooseId}; `not_found` where no delivery has such an id.
 */
export async function findDeliveryId(sluice: SluiceClient, given: string): Promise<string> {
  if (!isShortId(given) && !/^\d+$/.test(given)) return given;
  const found = takeOne(given, await findDeliveryIds(sluice, given), 'deliveries');
  if (found !== undefined) return found;
  throw new CommandError(
    'not_found',
    `None of the newest 10,000 deliveries has the id ${given}`,
    'give the whole id: sluice deliveries list --wide',
  );
}

/** The same for a replay. */
export async function findReplayId(sluice: SluiceClient, given: string): Promise<string> {
  if (!isShortId(given) && !/^\d+$/.test(given)) return given;
  const ids = (await sluice.listReplays()).map(({ id }) => id);
  return chooseId(given, ids, 'replays') ?? given;
}
