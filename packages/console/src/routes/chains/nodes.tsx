import type { ChainAgreement, ProviderHealth } from '@sluice/kit/sluice';
import { PROVIDER_CONDITIONS } from '../../words/condition.ts';
import { formatCount, formatDuration, formatQuantity } from '../../ui/text/format.ts';
import { Status } from '../../ui/status.tsx';

/** The nodes of a chain, and how each is judged. */
export function Nodes({ nodes, best }: { nodes: readonly ProviderHealth[]; best: number | null }) {
  return (
    <div className="mt-3 overflow-x-auto">
      <table className="w-full max-w-220 border-collapse">
        <caption className="sr-only">Nodes</caption>
        <thead>
          <tr className="border-b border-line text-left">
            <th scope="col" className="caps py-1 pr-3">
              Node
            </th>
            <th scope="col" className="caps px-3">
              State
            </th>
            <th scope="col" className="caps px-3 text-right">
              Head
            </th>
            <th scope="col" className="caps px-3 text-right">
              Latency
            </th>
            <th scope="col" className="caps px-3 text-right max-sm:hidden">
              Failures
            </th>
            <th scope="col" className="caps px-3 text-right max-sm:hidden">
              Disagreed
            </th>
            <th
              scope="col"
              className="caps pl-3 text-right max-sm:hidden"
              title="How it is judged now: milliseconds of latency, and what lag, failures and doubt count; the lowest is followed"
            >
              Score
            </th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((provider, index) => (
            <tr key={index} className="h-row border-b border-line">
              <th scope="row" className="max-w-40 py-1 pr-3 text-left font-normal">
                <span className="data block truncate" title={provider.name}>
                  {provider.name}
                </span>
                {describeRole(provider, nodes.length) !== '' && (
                  <span className="block text-12 break-words text-muted">
                    {describeRole(provider, nodes.length)}
                  </span>
                )}
              </th>
              <td className="px-3 text-12">
                <Status condition={PROVIDER_CONDITIONS[provider.state]} />
              </td>
              <td
                className="data px-3 text-right"
                title={
                  best === null || provider.head === null
                    ? ''
                    : `${formatQuantity(best - provider.head, 'block')} behind the best`
                }
              >
                {provider.head === null ? '–' : formatCount(provider.head)}
              </td>
              <td className="data px-3 text-right">
                {provider.latencyMs === null ? '–' : formatDuration(provider.latencyMs)}
              </td>
              <td
                className={`data px-3 text-right max-sm:hidden ${provider.failures > 0 ? 'text-warn' : 'text-faint'}`}
              >
                {formatCount(provider.failures)}
              </td>
              <td
                className={`data px-3 text-right max-sm:hidden ${provider.disagreements > 0 ? 'text-bad' : 'text-faint'}`}
              >
                {formatCount(provider.disagreements)}
              </td>
              <td className="data pl-3 text-right max-sm:hidden">
                {formatCount(provider.score.total)}
                <span className="block text-12 text-muted">{describeScore(provider.score)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Which part a node plays beside the others, and what is wrong with it. */
function describeRole({ message, isFollowed, hasVoice }: ProviderHealth, nodes: number): string {
  if (message !== '') return message;
  if (nodes === 1) return '';
  if (!hasVoice) return 'not heard where nodes differ';
  return isFollowed ? 'followed' : '';
}

/** What it counts beside latency; empty of a node that nothing is held against. */
function describeScore({ lag, failures, doubt }: ProviderHealth['score']): string {
  const parts = Object.entries({ lag, failures, doubt }).filter(([, points]) => points > 0);
  return parts.map(([name, points]) => `${name} ${formatCount(points)}`).join(' · ');
}

/** Whether another node has the newest block as well. */
export function Agreement({
  agreement: { blockNumber, state },
  nodes,
}: {
  agreement: ChainAgreement;
  nodes: number;
}) {
  const block = `block ${formatCount(blockNumber)}`;
  const said: Record<ChainAgreement['state'], string> = {
    agreed: `A second node has the same ${block}.`,
    alone:
      nodes === 1
        ? `Nobody else was asked about ${block}: name a second node, and each new block is held against it.`
        : `No other node that is heard knows ${block} yet.`,
    outvoted: `Most nodes have this ${block}, and another has another one.`,
    disagreed: `Nodes have different blocks at ${formatCount(blockNumber)}: nothing is taken until they agree.`,
  };
  return (
    <p className={`mt-2 text-12 ${state === 'disagreed' ? 'text-bad' : 'text-muted'}`}>
      {said[state]}
    </p>
  );
}
