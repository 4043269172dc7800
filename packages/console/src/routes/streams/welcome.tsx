import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { chainsQuery } from '../../data/queries/chains.ts';
import { useFleet, useRecentDeliveries } from '../../data/fleet.ts';
import { FleetStrip } from './fleetStrip.tsx';
import { StartChoices } from './starts.tsx';
import { useDemoStream } from './demoStream.ts';

/** Offers ways to create the first stream while the service has neither streams nor deliveries. */
export function WelcomePage() {
  const demo = useDemoStream();
  const fleet = useFleet();
  const { data: chains } = useQuery(chainsQuery);
  const { rows } = useRecentDeliveries();
  const isFirstRun = fleet === undefined || (fleet.length === 0 && rows.length === 0);
  // Stays on this page while the demo stream is created, because the mutation opens the page of the
  // stream at the end.
  if (!isFirstRun && demo.create.isIdle) return <Navigate to="/" replace />;
  return (
    <>
      <FleetStrip streams={[]} chains={chains} />
      <section aria-labelledby="welcome-title" className="py-6">
        <h2 id="welcome-title" className="px-4 text-20 font-semibold">
          Create your first stream
        </h2>
        <p className="mt-1 max-w-160 px-4 pb-5 text-muted">
          A stream defines what to watch. When a block matches, Sluice POSTs a signed webhook to
          your URL or to the built-in inbox.
        </p>
        <StartChoices demo={demo} />
      </section>
    </>
  );
}
