import type { ActivityPoint } from '@sluice/kit/sluice';
import {
  formatCount,
  formatDateTime,
  formatDuration,
  formatShare,
} from '../../../ui/text/format.ts';
import { succeededAttempts } from './points.ts';

/**
 * Shows the numbers of the charts as a table, newest step first. Steps without attempts are
 * omitted.
 */
export function PointTable({ points }: { points: readonly ActivityPoint[] }) {
  const busy = points.filter((point) => succeededAttempts(point) + point.failedAttempts > 0);
  return (
    <table className="w-full max-w-160 border-collapse">
      <thead>
        <tr className="border-b border-line text-left">
          {['From', 'Delivered', 'Failed attempts', 'Success', 'Retries', 'p50', 'p95'].map(
            (head, index) => (
              <th
                key={head}
                scope="col"
                className={`caps py-1 ${index === 0 ? '' : 'pl-3 text-right'}`}
              >
                {head}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {busy.toReversed().map((point) => (
          <tr key={point.at} className="border-b border-line">
            <th scope="row" className="data py-1 text-left font-normal">
              {formatDateTime(point.at)}
            </th>
            {[
              formatCount(point.delivered),
              formatCount(point.failedAttempts),
              formatShare(succeededAttempts(point), point.failedAttempts),
              formatCount(point.retries),
              point.p50Ms === null ? '–' : formatDuration(point.p50Ms),
              point.p95Ms === null ? '–' : formatDuration(point.p95Ms),
            ].map((text, index) => (
              <td key={index} className="data pl-3 text-right whitespace-nowrap">
                {text}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
