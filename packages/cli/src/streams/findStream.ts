/** Finds a stream by its id or tag, also as a table shortens it. */
import type { StreamSummary } from '@sluice/kit/sluice';
import type { Connection } from '../connection/connection.ts';
import { sluiceCommand } from '../package/packaged.ts';
import { chooseId, shortenId } from '../connection/shortIds.ts';
import { CommandError } from '../terminal/errors.ts';

/** Hint for a service without streams. */
export const CREATE_STREAM = `Create one: ${sluiceCommand()} streams create --help`;

/** Returns the tag of a stream, or its shortened id if it has no tag. */
export const nameOf = ({ tag, id }: Pick<StreamSummary, 'tag' | 'id'>): string =>
  tag || shortenId(id);

/** Returns whether a table may show the tag in this form, such as `big-trans…`. */
function isShortened(given: string, tag: string): boolean {
  const [front = '', end, ...more] = given.split('…');
  if (end === undefined || more.length > 0 || given.length < 2) return false;
  return tag.length >= given.length && tag.startsWith(front) && tag.endsWith(end);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @throws CommandError `not_found` if no stream matches; `usage` if several do. */
export async function findStream(
  { sluice }: Pick<Connection, 'sluice'>,
  idOrTag: string,
): Promise<StreamSummary> {
  const streams = await sluice.listStreamSummaries();
  const same = streams.filter(({ tag }) => tag === idOrTag);
  const tagged = same.length > 0 ? same : streams.filter(({ tag }) => isShortened(idOrTag, tag));
  const whole = idOrTag.toLowerCase();
  // An exact tag takes precedence over an id that starts with the same characters.
  const id =
    UUID.test(whole) || tagged.length > 0
      ? whole
      : chooseId(
          whole,
          streams.map((each) => each.id),
          'streams',
        );
  const byId = streams.find((each) => each.id === id);
  const [first, ...more] = byId ? [byId] : tagged;
  if (first === undefined) {
    throw new CommandError(
      'not_found',
      `There is no stream ${JSON.stringify(idOrTag)}`,
      streams.length === 0
        ? 'create one: sluice streams create --help'
        : `use an existing one: ${streams.map(({ tag, id }) => tag || id).join(', ')}`,
    );
  }
  if (more.length > 0) {
    const ids = [first, ...more].map(({ id }) => id).join(', ');
    throw new CommandError(
      'usage',
      `${more.length + 1} streams match the tag ${idOrTag}`,
      `use one of these IDs: ${ids}`,
    );
  }
  return first;
}

/**
 * Finds the id of a stream whose deliveries are to be listed. A deleted stream is found only by its
 * complete id, and only while it has deliveries.
 *
 * @throws as {@link findStream}; also `not_found` for the id of a deleted stream without
 *   deliveries.
 */
export async function findStreamId(
  { sluice }: Pick<Connection, 'sluice'>,
  idOrTag: string,
): Promise<string> {
  const id = idOrTag.toLowerCase();
  if (UUID.test(id)) {
    const { result } = await sluice.listDeliveries({ streamId: id, limit: 1 });
    if (result.length > 0) return id;
  }
  return (await findStream({ sluice }, idOrTag)).id;
}

/** Returns the ids that belong to no existing stream. */
export async function findDeleted(
  { sluice }: Pick<Connection, 'sluice'>,
  ids: readonly string[],
): Promise<string[]> {
  const streams = await sluice.listStreamSummaries();
  return ids.filter((id) => !streams.some((stream) => stream.id === id));
}
