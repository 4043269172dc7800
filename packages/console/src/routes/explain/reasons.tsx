import type { ExplainReason } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { chainsQuery } from '../../data/queries/chains.ts';
import { StatusShape } from '../../ui/status.tsx';
import { OUTCOME_CONDITIONS } from './verdictConditions.ts';
import { formatMessage } from '../../words/messages.ts';
import { Conditions } from './explainedConditions.tsx';

/**
 * Shows one reason per line with its stage. Each rule appears next to the address or value that it
 * was compared with.
 */
export function Reasons({ reasons }: { reasons: readonly ExplainReason[] }) {
  const { data: chains = [] } = useQuery(chainsQuery);
  if (reasons.length === 0) return null;
  return (
    <ol className="mt-2">
      {reasons.map(({ stage, outcome, message, conditions = [] }) => (
        <li
          key={`${stage} ${message}`}
          className="grid grid-cols-[16px_88px_minmax(0,1fr)] items-baseline"
        >
          <StatusShape condition={OUTCOME_CONDITIONS[outcome]} />
          <span className="text-12 text-faint">
            {stage}
            <span className="sr-only"> {OUTCOME_CONDITIONS[outcome].word}</span>
          </span>
          <span className={`break-words ${outcome === 'stopped' ? '' : 'text-muted'}`}>
            {formatMessage(message, chains)}
          </span>
          {conditions.length > 0 && <Conditions conditions={conditions} />}
        </li>
      ))}
    </ol>
  );
}
