import { useQuery } from '@tanstack/react-query';
import { clsx } from 'clsx';
import { lazy, Suspense } from 'react';
import type { FleetStream } from '../../data/fleet.ts';
import { incidentsQuery } from '../../data/queries/incidents.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { StatusShape, type Tone } from '../../ui/status.tsx';
import { useNow } from '../../ui/text/clock.ts';
import { describeHealth, describeIncidents, recentIncidents } from './health.ts';

const TONES: Partial<Record<Tone, string>> = { warn: 'text-warn', bad: 'text-bad' };

const IncidentList = lazy(async () => ({
  default: (await import('./incidentList.tsx')).IncidentList,
}));

/** Shows in one sentence whether all is well, and lists on demand what fails or failed, by cause. */
export function HealthLine({
  fleet,
  chains,
}: {
  fleet: readonly FleetStream[] | undefined;
  chains: ReadonlyMap<string, WatchedChain>;
}) {
  const now = useNow();
  const { data = [] } = useQuery(incidentsQuery);
  const incidents = recentIncidents(data, now);
  const health = fleet && describeHealth(fleet, [...chains.values()]);
  const sentence = health && (
    <>
      <StatusShape condition={health} />
      <span className="min-w-0">{health.word}</span>
    </>
  );
  const line = clsx('flex min-h-6 items-center gap-1.5', TONES[health?.tone ?? 'muted']);
  return (
    <section aria-label="Health" className="border-b border-line px-4 py-1.5">
      {incidents.length === 0 ? (
        <p className={line}>{sentence}</p>
      ) : (
        // Closed at first, because the list below would move when the incidents load.
        <details>
          <summary className={clsx(line, 'cursor-pointer')}>
            {sentence}
            <span className="whitespace-nowrap text-muted underline underline-offset-2">
              {describeIncidents(incidents)}
            </span>
          </summary>
          <Suspense>
            <IncidentList incidents={incidents} fleet={fleet ?? []} now={now} />
          </Suspense>
        </details>
      )}
    </section>
  );
}
