import type { ChainAgreement, ProviderHealth, ProviderState } from '@sluice/kit/sluice';
import { Trash2 } from 'lucide-react';
import { formatCount, formatDuration, formatQuantity } from '../../ui/text/format.ts';
import { Button } from '../../ui/button.tsx';
import { type Condition, Status } from '../../ui/status.tsx';
import { Term } from '../../ui/tips/term.tsx';
import type { AddedNode } from './removeNode.tsx';
import { condition } from '../../words/condition.ts';

const PROVIDER_CONDITIONS: Record<ProviderState, Condition> = {
  good: condition('disc', 'healthy', 'ok'),
  lagging: condition('half', 'lagging', 'warn'),
  limited: condition('bars', 'limited', 'warn'),
  down: condition('triangle', 'down', 'bad'),
  'wrong-chain': condition('cross', 'wrong chain', 'bad'),
};

/** Lists the nodes of a chain with their state and score. */
export function Nodes({
  nodes,
  best,
  onRemove,
}: {
  nodes: readonly ProviderHealth[];
  best: number | null;
  /** Starts the removal of a node; undefined if the service does not allow removing nodes. */
  onRemove: ((node: AddedNode) => void) | undefined;
}) {
  const isRemovable = onRemove !== undefined && nodes.some(({ addedId }) => addedId !== null);
  return (
    <div className="relative mt-3 overflow-x-auto">
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
              Disagreements
            </th>
            <th scope="col" className="caps pl-3 text-right max-sm:hidden">
              <Term tip="Latency in milliseconds plus penalties for lag, failures and doubt. The primary changes when another node’s score is at most half of its score.">
                Score
              </Term>
            </th>
            {isRemovable && (
              <th scope="col">
                <span className="sr-only">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {nodes.map((provider, index) => (
            <tr key={index} className="h-row border-b border-line">
              <th scope="row" className="max-w-40 py-1 pr-3 text-left font-normal">
                <span className="data block truncate" data-cut>
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
                data-tip={
                  best === null || provider.head === null
                    ? undefined
                    : `${formatQuantity(best - provider.head, 'block')} behind the head`
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
              {isRemovable && (
                <td className="pl-3 text-right">
                  <RemoveButton node={provider} onRemove={onRemove} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RemoveButton({
  node: { addedId, name },
  onRemove,
}: {
  node: ProviderHealth;
  onRemove: (node: AddedNode) => void;
}) {
  if (addedId === null) return null;
  return (
    <Button
      variant="quiet"
      square
      aria-label={`Remove ${name}`}
      onClick={() => onRemove({ id: addedId, name })}
    >
      <Trash2 size={14} strokeWidth={1.5} aria-hidden="true" />
    </Button>
  );
}

/**
 * Returns the problem of a node. Without a problem, returns its role and whether it was added while
 * the service ran.
 */
function describeRole(node: ProviderHealth, nodes: number): string {
  const { message, isPrimary, hasVote, addedId } = node;
  if (message !== '') return message;
  const role = nodes === 1 ? '' : !hasVote ? 'no vote' : isPrimary ? 'primary' : '';
  return [role, addedId === null ? '' : 'added'].filter((word) => word !== '').join(' · ');
}

/** Returns the penalties in the score of a node as text; empty if there are none. */
function describeScore({ lag, failures, doubt }: ProviderHealth['score']): string {
  const parts = Object.entries({ lag, failures, doubt }).filter(([, points]) => points > 0);
  return parts.map(([name, points]) => `${name} ${formatCount(points)}`).join(' · ');
}

/** Shows the result of the last check of the newest block against other nodes. */
export function Agreement({
  agreement: { blockNumber, state },
  nodes,
}: {
  agreement: ChainAgreement;
  nodes: number;
}) {
  const block = formatCount(blockNumber);
  const words: Record<ChainAgreement['state'], string> = {
    agreed: `A second node agrees on block ${block}.`,
    alone:
      nodes === 1
        ? `Block ${block} is unchecked. To check each new block, add a second node.`
        : `No other node with a vote has block ${block} yet.`,
    outvoted: `Most nodes agree on block ${block}. A minority has a different one.`,
    disagreed: `Nodes disagree on block ${block}. The chain is paused until they agree.`,
  };
  return (
    <p className={`mt-2 text-12 ${state === 'disagreed' ? 'text-bad' : 'text-muted'}`}>
      {words[state]}
    </p>
  );
}
