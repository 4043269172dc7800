import type { ExplainReason, ExplainedCondition } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { chainsQuery } from '../../data/queries/chains.ts';
import { StatusShape } from '../../ui/status.tsx';
import { OUTCOME_CONDITIONS } from '../../words/condition.ts';
import { formatMessage } from '../../words/messages.ts';

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

function Conditions({ conditions }: { conditions: readonly ExplainedCondition[] }) {
  return (
    <table className="col-start-3 my-1 justify-self-start text-left max-sm:col-span-3 max-sm:col-start-1">
      <thead className="text-12 text-faint">
        <tr>
          <th className="pr-6 font-normal">Rule</th>
          <th className="pr-6 font-normal">This transaction</th>
          <th className="font-normal">
            <span className="sr-only">Outcome</span>
          </th>
        </tr>
      </thead>
      <tbody className="data align-baseline">
        {conditions.map(({ name, rule, value, holds, alternative }, n) => {
          const outcome = OUTCOME_CONDITIONS[holds ? 'passed' : 'stopped'];
          return (
            <tr key={`${n} ${name} ${rule}`}>
              <td className="min-w-32 pr-6 wrap-anywhere text-muted">
                {alternative && <span className="text-faint">or </span>}
                {name} {formatMessage(rule)}
              </td>
              <td className="pr-6 wrap-anywhere">
                {value === null ? <span className="text-faint">none</span> : formatMessage(value)}
              </td>
              <td className="whitespace-nowrap">
                <StatusShape condition={outcome} />
                <span className="sr-only">{holds ? 'holds' : 'does not hold'}</span>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
