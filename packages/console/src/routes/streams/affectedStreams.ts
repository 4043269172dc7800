import type { Incident } from '@sluice/kit/sluice';
import type { FleetStream } from '../../data/fleet.ts';

/** The streams that an incident affects, of those that still exist. */
export const affectedStreams = (
  { kind, chainId, affected }: Incident,
  fleet: readonly FleetStream[],
): FleetStream[] =>
  fleet.filter(({ stream, down }) =>
    kind === 'chain'
      ? down.some((id) => id === chainId)
      : affected.some(({ streamId }) => streamId === stream.id),
  );
