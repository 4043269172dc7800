import { FEED_URL } from '@sluice/kit/contract';
import type { StreamSummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { chainsQuery } from '../../data/queries/chains.ts';
import { streamsQuery } from '../../data/queries/streams.ts';
import { useFleet, type FleetStream } from '../../data/fleet.ts';
import { useShortcuts } from '../../ui/keys/keyboard.ts';
import { parseStreamSearch, STREAM_TABS, type StreamTab } from '../../data/search.ts';
import { buttonClass } from '../../ui/button.tsx';
import { useChosenTab } from '../../ui/chosenTab.ts';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Loading } from '../../ui/loading.tsx';
import { DeliveryExplorer } from '../deliveries/explorer.tsx';
import { FirstDelivery } from './firstDelivery.tsx';
import { StreamHeader } from './streamHeader.tsx';
import { StreamRiver } from './streamRiver.tsx';
import { useNamePage } from '../../ui/pageTitle.ts';
import { listDestinations } from '../../words/destinations.ts';
import { nameOfStream } from '../../words/names.ts';

const AddressesTab = lazy(async () => ({
  default: (await import('./addresses/addressesTab.tsx')).AddressesTab,
}));
const ChildrenTab = lazy(async () => ({
  default: (await import('./addresses/childrenTab.tsx')).ChildrenTab,
}));
const ConsumersTab = lazy(async () => ({
  default: (await import('./consumers/consumersTab.tsx')).ConsumersTab,
}));
const RulesTab = lazy(async () => ({
  default: (await import('./settings/rulesTab.tsx')).RulesTab,
}));
const MetricsTab = lazy(async () => ({
  default: (await import('./metrics/metricsTab.tsx')).MetricsTab,
}));
const CoverageTab = lazy(async () => ({
  default: (await import('./coverageTab.tsx')).CoverageTab,
}));
const SettingsTab = lazy(async () => ({
  default: (await import('./settings/settingsTab.tsx')).SettingsTab,
}));

/** Shows one stream with its tabs, or why it cannot be shown. */
export function StreamPage() {
  const { streamId } = useParams({ from: '/frame/streams/$streamId' });
  const streams = useQuery(streamsQuery);
  const fleet = useFleet();
  // The state of the chains is part of the header, which would otherwise grow once they are loaded.
  const chains = useQuery(chainsQuery);
  const row = fleet?.find(({ stream }) => stream.id === streamId);
  if (row !== undefined && !chains.isPending) return <StreamTabs key={streamId} row={row} />;
  if (streams.isError) {
    return (
      <ErrorPanel
        what="Couldn't load the stream"
        error={streams.error}
        onRetry={() => void streams.refetch()}
      />
    );
  }
  if (fleet === undefined || row !== undefined) return <Loading className="p-4" />;
  return (
    <div className="p-4">
      <p className="font-medium">Stream not found</p>
      <p className="mt-1 text-muted">The stream was deleted, or the link is for another service.</p>
      <div className="mt-3 flex flex-wrap gap-2">
        <Link to="/" className={buttonClass('plain')}>
          All streams
        </Link>
        <Link to="/deliveries" search={{ stream: streamId }} className={buttonClass('plain')}>
          Past deliveries
        </Link>
      </div>
    </div>
  );
}

const TAB_WORDS: Record<StreamTab, string> = {
  deliveries: 'Deliveries',
  consumers: 'Consumers',
  addresses: 'Addresses',
  children: 'Children',
  rules: 'Rules',
  metrics: 'Metrics',
  coverage: 'Coverage',
  settings: 'Settings',
};

/** Tabs that only some streams have. */
const HAS_TAB: { [Name in StreamTab]?: (stream: StreamSummary) => boolean } = {
  children: ({ amountOfFactories }) => amountOfFactories > 0,
  consumers: (stream) => listDestinations(stream).some(({ webhookUrl }) => webhookUrl === FEED_URL),
};

function StreamTabs({ row }: { row: FleetStream }) {
  const search = useSearch({ from: '/frame/streams/$streamId' });
  const navigate = useNavigate({ from: '/streams/$streamId' });
  const tab = search.tab ?? 'deliveries';
  const name = nameOfStream(row.stream);
  useNamePage(tab === 'deliveries' ? name : `${TAB_WORDS[tab]} · ${name}`);
  const shown = STREAM_TABS.filter((each) => each === tab || (HAS_TAB[each]?.(row.stream) ?? true));
  const tabs = useChosenTab<HTMLElement>(tab);
  // While the user reads the list of deliveries, the list gets most of the height.
  const [isAway, setAway] = useState(false);
  const isReading = tab === 'deliveries' && isAway;
  const step = (by: 1 | -1): boolean => {
    const next = shown[shown.indexOf(tab) + by];
    if (next === undefined || search.sel !== undefined) return false;
    void navigate({ search: { tab: next } });
    return true;
  };
  useShortcuts({ '[': () => step(-1), ']': () => step(1) });
  return (
    <div className="flex h-full min-h-0 flex-col">
      <StreamHeader row={row} onExpand={isReading ? () => setAway(false) : null} />
      <nav
        ref={tabs}
        aria-label="Stream"
        className="flex shrink-0 gap-1 overflow-x-auto border-b border-line px-3"
      >
        {shown.map((each) => (
          <Link
            key={each}
            from="/streams/$streamId"
            to="/streams/$streamId"
            search={each === 'deliveries' ? {} : { tab: each }}
            aria-current={each === tab ? 'page' : undefined}
            activeProps={{}}
            activeOptions={{ exact: true, includeSearch: true }}
            className="control flex h-9 items-center border-b-2 border-transparent px-2 text-12 text-muted hover:text-text aria-[current=page]:border-accent aria-[current=page]:text-text"
          >
            {TAB_WORDS[each]}
          </Link>
        ))}
      </nav>
      <div
        className="flex min-h-0 flex-1 flex-col overflow-y-auto"
        onScroll={({ target, currentTarget }) => {
          if (tab === 'deliveries' && target === currentTarget && currentTarget.scrollTop > 0) {
            setAway(true);
          }
        }}
      >
        <Suspense fallback={<Loading className="p-4" />}>
          <Tab tab={tab} stream={row.stream} isReading={isReading} onAway={setAway} />
        </Suspense>
      </div>
    </div>
  );
}

function Tab({
  tab,
  stream,
  isReading,
  onAway,
}: {
  tab: StreamTab;
  stream: StreamSummary;
  isReading: boolean;
  onAway: (isAway: boolean) => void;
}) {
  const search = useSearch({ from: '/frame/streams/$streamId' });
  const navigate = useNavigate({ from: '/streams/$streamId' });
  switch (tab) {
    case 'deliveries':
      return (
        <>
          <div hidden={isReading}>
            <StreamRiver stream={stream} />
          </div>
          <div className="min-h-80 flex-1">
            <DeliveryExplorer
              search={search}
              onSearch={(next, replace) => {
                void navigate({ search: parseStreamSearch({ ...next }), replace });
              }}
              of={{ stream: stream.id }}
              first={<FirstDelivery stream={stream} />}
              onAway={onAway}
            />
          </div>
        </>
      );
    case 'consumers':
      return <ConsumersTab stream={stream} />;
    case 'addresses':
      return <AddressesTab stream={stream} />;
    case 'children':
      return <ChildrenTab stream={stream} />;
    case 'rules':
      return <RulesTab stream={stream} />;
    case 'metrics':
      return <MetricsTab stream={stream} />;
    case 'coverage':
      return <CoverageTab stream={stream} />;
    case 'settings':
      return <SettingsTab stream={stream} />;
  }
}
