/** Compares and changes the additional destinations of a stream. */
import { CALLS } from '@sluice/kit/calls';
import type { AddDestination, SluiceClient, StreamDestination } from '@sluice/kit/sluice';
import {
  type FieldChange,
  type Fields,
  compareFields,
  lacksClientSecret,
  toFields,
  withSomeSecret,
} from './streamFields.ts';

export interface DestinationChange {
  readonly destination: number;
  readonly webhookUrl: string;
  readonly changes: readonly FieldChange[];
}

export interface DestinationDiff {
  readonly added: readonly Fields[];
  readonly changed: readonly DestinationChange[];
  readonly removed: readonly StreamDestination[];
}

export const SAME_DESTINATIONS: DestinationDiff = { added: [], changed: [], removed: [] };

export const countDestinationChanges = ({ added, changed, removed }: DestinationDiff): number =>
  added.length + changed.length + removed.length;

/** Returns the fields of a destination that differ from their defaults, for a file. */
export const toDestinationFields = ({
  destination: _number,
  createdAt: _createdAt,
  updatedAt: _updatedAt,
  ...fields
}: StreamDestination): Fields => toFields(fields);

/**
 * Returns the changes that give a stream exactly these additional destinations, which are
 * identified by their webhook URL.
 */
export function compareDestinations(
  present: readonly StreamDestination[],
  wanted: readonly Fields[],
): DestinationDiff {
  const left = [...present];
  const added: Fields[] = [];
  const changed: DestinationChange[] = [];
  for (const fields of wanted) {
    const at = left.findIndex(({ webhookUrl }) => webhookUrl === fields['webhookUrl']);
    const [known] = at < 0 ? [] : left.splice(at, 1);
    if (known === undefined) {
      added.push(fields);
      continue;
    }
    const { destination, webhookUrl } = known;
    const changes = compareFields(toDestinationFields(known), fields);
    if (changes.length > 0) changed.push({ destination, webhookUrl, changes });
  }
  return { added, changed, removed: left };
}

/** Applies the changes. Removes destinations first, because a stream has at most five. */
export async function changeDestinations(
  sluice: SluiceClient,
  streamId: string,
  { added, changed, removed }: DestinationDiff,
): Promise<void> {
  for (const { destination } of removed) await sluice.removeDestination(streamId, destination);
  for (const { destination, changes } of changed) {
    const fields = Object.fromEntries(changes.map(({ field, to }) => [field, to]));
    await sluice.updateDestination(streamId, destination, fields);
  }
  for (const fields of added) {
    await sluice.addDestination(streamId, fields as unknown as AddDestination);
  }
}

/** Returns the first problem of the fields, as the service would report it. */
export const findDestinationIssue = (fields: Fields) =>
  CALLS.addDestination.body.safeParse(withSomeSecret(fields)).error?.issues[0];

/** Returns whether a change needs a client secret that the file does not have. */
export const lacksSecret = ({ added, changed }: DestinationDiff): boolean =>
  added.some(lacksClientSecret) ||
  changed.some(({ changes }) =>
    changes.some(({ field, to }) => field === 'oauth2' && lacksClientSecret({ oauth2: to })),
  );
