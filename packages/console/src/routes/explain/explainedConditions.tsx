import { wordOfFilterName } from '../../words/names.ts';
import type { ExplainedCondition } from '@sluice/kit/sluice';
import { StatusShape } from '../../ui/status.tsx';
import { OUTCOME_CONDITIONS } from './verdictConditions.ts';
import { formatMessage } from '../../words/messages.ts';

/** Shows each comparison of a filter next to the value of the transaction. */
export function Conditions({ conditions }: { conditions: readonly ExplainedCondition[] }) {
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
                {wordOfFilterName(name)} {formatMessage(rule)}
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
