import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Pause, Play } from 'lucide-react';
import { useFleet } from '../../data/fleet.ts';
import { receiverIncidentsQuery } from '../../data/queries/receivers.ts';
import { streamsQuery } from '../../data/queries/streams.ts';
import { Breadcrumb } from '../../ui/breadcrumb.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Loading } from '../../ui/loading.tsx';
import { useNamePage } from '../../ui/pageTitle.ts';
import { Status } from '../../ui/status.tsx';
import { useNow } from '../../ui/text/clock.ts';
import { formatCount, formatQuantity } from '../../ui/text/format.ts';
import { backOffWords } from '../../words/condition.ts';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { ResponseTimes } from '../heatMap/responseTimes.tsx';
import { IncidentList } from '../streams/incidentList.tsx';
import { CertificateFacts } from './certificateFacts.tsx';
import { LaneTable } from './laneTable.tsx';
import { usePauseAll } from './pauseAll.ts';
import { lanesOf, receiverCondition, type ReceiverLane } from './receiverLanes.ts';

/** A day of steps of five minutes. */
const DAY = { step: 5, points: 288 } as const;

/** Shows one receiver: its state, its streams, its response times and its incidents. */
export function ReceiverPage() {
  const { receiver } = useParams({ from: '/frame/receivers/$receiver' });
  const navigate = useNavigate();
  const fleet = useFleet();
  const streams = useQuery(streamsQuery);
  useNamePage(receiver);
  if (streams.isError && fleet === undefined) {
    return (
      <ErrorPanel
        what="Couldn't load the receiver"
        error={streams.error}
        onRetry={() => void streams.refetch()}
      />
    );
  }
  if (fleet === undefined) return <Loading className="p-4" />;
  const lanes = lanesOf(fleet, receiver);
  if (lanes.length === 0) return <NoStreams receiver={receiver} />;
  return (
    <div>
      <Header receiver={receiver} lanes={lanes} />
      <dl className="grid gap-y-1 border-b border-line px-4 pb-2">
        <Fact label="Waiting">
          <Waiting receiver={receiver} lanes={lanes} />
        </Fact>
        <Fact label="Certificate">
          <CertificateFacts receiver={receiver} />
        </Fact>
      </dl>
      <div className="grid gap-6 p-4">
        <LaneTable lanes={lanes} />
        <Incidents receiver={receiver} />
        <ResponseTimes
          query={{ receiver, ...DAY }}
          onOpen={(search) => void navigate({ to: '/deliveries', search: { ...search, receiver } })}
        />
      </div>
    </div>
  );
}

function NoStreams({ receiver }: { receiver: string }) {
  return (
    <div className="p-4">
      <p className="font-medium">No stream sends to {receiver}</p>
      <p className="mt-1 text-muted">Its streams were deleted or have another webhook URL.</p>
      <Link to="/" className={`${buttonClass('plain')} mt-3`}>
        All streams
      </Link>
    </div>
  );
}

function Fact({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div className="grid grid-cols-[80px_minmax(0,1fr)] items-baseline">
      <dt className="text-12 text-faint">{label}</dt>
      <dd className="flex min-w-0 flex-wrap items-center gap-x-3">{children}</dd>
    </div>
  );
}

/** Shows the state with the next probe, and pauses and resumes all streams of the receiver. */
function Header({ receiver, lanes }: { receiver: string; lanes: readonly ReceiverLane[] }) {
  const now = useNow();
  const pauseAll = usePauseAll();
  const backOffs = lanes.flatMap(({ its }) => its.backOff ?? []);
  // The probe that is sent next is the one that may end the trouble first.
  const next = backOffs.toSorted((a, b) => a.until - b.until)[0];
  // Pausing a stream stops its other destinations too, so those that send here in addition stay.
  const own = lanes.filter(({ its }) => its.destination === 0).map(({ row }) => row.stream);
  const running = own.filter(({ status }) => status === 'active' || status === 'error');
  const paused = own.filter(({ status }) => status === 'paused');
  return (
    <header>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2">
        <span className="flex max-w-full min-w-0 items-center gap-2">
          <Breadcrumb to="/" title="Streams" />
          <h2 className="data truncate text-16 font-semibold">{receiver}</h2>
        </span>
        <Status condition={receiverCondition(lanes, now)} />
        <span className="ml-auto flex flex-wrap gap-2">
          {paused.length > 0 && (
            <Button
              disabled={pauseAll.isPending}
              onClick={() => pauseAll.mutate({ streams: paused, status: 'active' })}
            >
              <Play size={14} strokeWidth={1.5} aria-hidden="true" />
              Resume all
              <span className="data text-faint">{paused.length}</span>
            </Button>
          )}
          {running.length > 0 && (
            <Button
              disabled={pauseAll.isPending}
              onClick={() => pauseAll.mutate({ streams: running, status: 'paused' })}
            >
              <Pause size={14} strokeWidth={1.5} aria-hidden="true" />
              Pause all
              <span className="data text-faint">{running.length}</span>
            </Button>
          )}
        </span>
      </div>
      {next !== undefined && (
        <p className="px-4 pb-2">
          {formatCount(backOffs.length)} of {formatQuantity(lanes.length, 'destination')} backed
          off: {backOffWords(next, now)}
        </p>
      )}
      {pauseAll.isError && (
        <ErrorPanel
          what={
            pauseAll.variables.status === 'paused'
              ? "Couldn't pause some streams"
              : "Couldn't resume some streams"
          }
          error={pauseAll.error}
          onRetry={() => pauseAll.mutate(pauseAll.variables)}
        />
      )}
    </header>
  );
}

function Waiting({ receiver, lanes }: { receiver: string; lanes: readonly ReceiverLane[] }) {
  const waiting = lanes.reduce((sum, { its }) => sum + its.queue, 0);
  return (
    <>
      <span>{waiting === 0 ? 'Nothing' : formatQuantity(waiting, 'delivery', 'deliveries')}</span>
      {waiting > 0 && (
        <Link
          to="/deliveries"
          search={{ receiver, state: 'retrying' }}
          className="inline-flex min-h-6 items-center text-accent hover:underline"
        >
          Waiting for a retry
        </Link>
      )}
      <Link
        to="/deliveries"
        search={{ receiver }}
        className="inline-flex min-h-6 items-center text-accent hover:underline"
      >
        All deliveries
      </Link>
    </>
  );
}

function Incidents({ receiver }: { receiver: string }) {
  const now = useNow();
  const { data = [], error, refetch } = useQuery(receiverIncidentsQuery(receiver));
  return (
    <section aria-label="Incidents">
      <h3 className="caps">Incidents {data.length > 0 && formatCount(data.length)}</h3>
      {error !== null && (
        <ErrorPanel
          what="Couldn't load incidents"
          error={error}
          onRetry={() => void refetch()}
          stale={data.length > 0}
        />
      )}
      {data.length === 0 ? (
        <p className="mt-1 text-muted">No incidents in the last 30 days.</p>
      ) : (
        <IncidentList incidents={data} fleet={[]} now={now} isOfReceiver />
      )}
    </section>
  );
}
