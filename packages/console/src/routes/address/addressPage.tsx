import type { StreamVerdict } from '@sluice/kit/sluice';
import { timeOfId } from '@sluice/kit/contract';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { chainsQuery } from '../../data/queries/chains.ts';
import { parseAddressSearch } from '../../data/search.ts';
import { Breadcrumb } from '../../ui/breadcrumb.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { Loading } from '../../ui/loading.tsx';
import { useNamePage } from '../../ui/pageTitle.ts';
import { Status } from '../../ui/status.tsx';
import { formatHash, formatQuantity } from '../../ui/text/format.ts';
import { Hash } from '../../ui/text/hash.tsx';
import { Ago } from '../../ui/text/time.tsx';
import { VERDICT_CONDITIONS } from '../explain/verdictConditions.ts';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { formatMessage } from '../../words/messages.ts';
import { DeliveryExplorer } from '../deliveries/explorer.tsx';
import { explainQuery } from '../explain/explainQuery.ts';
import { ExplorerLinks } from './explorerLinks.tsx';
import { ActivityStrip } from './activityStrip.tsx';
import { foundQuery } from './foundDeliveries.ts';

/** Shows what concerns an address: its streams, its activity and its deliveries. */
export function AddressPage() {
  const { address } = useParams({ from: '/frame/addresses/$address' });
  const search = useSearch({ from: '/frame/addresses/$address' });
  const navigate = useNavigate({ from: '/addresses/$address' });
  const explained = useQuery(explainQuery(address, undefined));
  useNamePage(formatHash(address));
  if (explained.data === undefined) {
    return explained.isError ? (
      <ErrorPanel
        what="Couldn't find the streams of the address"
        error={explained.error}
        onRetry={() => void explained.refetch()}
      />
    ) : (
      <Loading className="p-4" />
    );
  }
  return (
    <div className="flex h-full min-h-0 flex-col overflow-y-auto">
      <AddressHeader address={address} verdicts={explained.data.streams} />
      <div className="min-h-80 flex-1">
        <DeliveryExplorer
          key={address}
          search={search}
          onSearch={(next, replace) => {
            void navigate({ search: parseAddressSearch({ ...next }), replace });
          }}
          of={{ q: address }}
        />
      </div>
    </div>
  );
}

function AddressHeader({
  address,
  verdicts,
}: {
  address: string;
  verdicts: readonly StreamVerdict[];
}) {
  const watching = verdicts.filter(({ verdict }) => verdict === 'watched');
  return (
    <header className="border-b border-line">
      <Breadcrumb to="/deliveries" title="Deliveries" here={formatHash(address)} />
      <div className="flex flex-wrap items-center gap-x-2 px-4 pt-1">
        <h2 className="text-16 font-semibold">
          <Hash value={address} name="address" />
        </h2>
        <ExplorerLinks address={address} watching={watching} />
        <span className="ml-auto flex flex-wrap gap-2">
          <Link to="/explain" search={{ q: address }} className={buttonClass('plain')}>
            Explain
          </Link>
          <Link to="/streams/new" search={{ address }} className={buttonClass('plain')}>
            New stream
          </Link>
        </span>
      </div>
      <Watching address={address} watching={watching} of={verdicts.length} />
      <Seen address={address} />
    </header>
  );
}

/** Lists the streams that watch the address, and how. */
function Watching({
  address,
  watching,
  of,
}: {
  address: string;
  watching: readonly StreamVerdict[];
  of: number;
}) {
  const { data: chains = [] } = useQuery(chainsQuery);
  if (watching.length === 0) {
    return (
      <p className="px-4 py-1 text-muted">
        {of === 0
          ? 'There is no stream that could watch it.'
          : `None of ${formatQuantity(of, 'stream')} watches it. Deliveries may still contain it.`}
      </p>
    );
  }
  return (
    <ul aria-label="Streams that watch the address" className="max-h-36 overflow-y-auto px-4 py-1">
      {watching.map(({ streamId, tag, verdict, reason }) => (
        <li key={streamId} className="flex min-h-7 min-w-0 items-center gap-x-4">
          <Status condition={VERDICT_CONDITIONS[verdict]} />
          <Link
            to="/streams/$streamId"
            params={{ streamId }}
            search={{ tab: 'addresses', find: address }}
            className="inline-flex min-h-6 min-w-0 shrink-0 items-center font-medium text-accent hover:underline"
          >
            {tag || streamId}
          </Link>
          <span className="min-w-0 truncate text-muted" data-cut>
            {formatMessage(reason.message, chains)}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Shows when the address was in deliveries. */
function Seen({ address }: { address: string }) {
  const { data, isPending } = useQuery(foundQuery(address));
  const [newest] = data?.found ?? [];
  if (data === undefined || newest === undefined) {
    return (
      <p className="px-4 pb-2 text-faint">
        {isPending ? 'Searching the deliveries' : 'Not in any recent delivery.'}
      </p>
    );
  }
  return (
    <>
      <p className="px-4 text-muted">
        Last seen <Ago timeMs={timeOfId(newest.id)} />, {data.isComplete ? '' : 'at least '}
        {formatQuantity(data.found.length, 'delivery', 'deliveries')}
      </p>
      <ActivityStrip deliveries={data.found} />
    </>
  );
}
