/** A stream as people name it: by its id or its tag. */
import type { StreamSummary } from '@sluice/kit/sluice';
import type { Connection } from '../connection.ts';
import { CommandError } from '../terminal/errors.ts';

/** @throws CommandError `not_found`; `usage` for a tag that several streams have. */
export async function findStream(
  { sluice }: Pick<Connection, 'sluice'>,
  idOrTag: string,
): Promise<StreamSummary> {
  const streams = await sluice.listStreamSummaries();
  const wanted = idOrTag.toLowerCase();
  const byId = streams.find(({ id }) => id === wanted);
  const [first, ...more] = byId ? [byId] : streams.filter(({ tag }) => tag === idOrTag);
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
