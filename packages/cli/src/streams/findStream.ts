/** A stream as people name it: by its id or its tag. */
import type { StreamSummary } from '@sluice/kit/sluice';
import type { Connection } from '../connection/connection.ts';
import { sluiceCommand } from '../package/packaged.ts';
import { chooseId } from '../connection/shortIds.ts';
import { CommandError } from '../terminal/errors.ts';

/** What to do where there is no stream yet. */
export const CREATE_STREAM = `Create one: ${sluiceCommand()} streams create --help`;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @throws CommandError `not_found`; `usage` for a tag that several streams have. */
export async function findStream(
  { sluice }: Pick<Connection, 'sluice'>,
  idOrTag: string,
): Promise<StreamSummary> {
  const streams = await sluice.listStreamSummaries();
  const tagged = streams.filter(({ tag }) => tag === idOrTag);
  const whole = idOrTag.toLowerCase();
  // A tag is itself, also where it looks like the start of an id.
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
      `name one by its id or tag: ${streams.map(({ tag, id }) => tag || id).join(', ') || 'there are none, see sluice streams create'}`,
    );
  }
  if (more.length > 0) {
    const ids = [first, ...more].map(({ id }) => id).join(', ');
    throw new CommandError(
      'usage',
      `${more.length + 1} streams have the tag ${idOrTag}`,
      `name one by its id: ${ids}`,
    );
  }
  return first;
}

/**
 * Whose deliveries are meant: of a stream that was deleted they are there until retention ends, and its id
 * is all it is known by.
 *
 * @throws as {@link findStream}; `not_found` for the id of a deleted stream without deliveries, too.
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

/** Those of these ids that are of no stream any more. */
export async function findDeleted(
  { sluice }: Pick<Connection, 'sluice'>,
  ids: readonly string[],
): Promise<string[]> {
  const streams = await sluice.listStreamSummaries();
  return ids.filter((id) => !streams.some((stream) => stream.id === id));
}
