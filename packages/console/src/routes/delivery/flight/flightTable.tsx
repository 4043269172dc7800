import { formatClock, formatCount, formatLength } from '../../../ui/text/format.ts';
import type { Flight } from './flight.ts';

/** Lists the parts of a flight with their times. */
export function FlightTable({ flight: { legs, startedAt } }: { flight: Flight }) {
  return (
    <table className="mb-2 w-full text-left">
      <thead className="text-12 text-faint">
        <tr>
          <th className="pr-4 font-normal">Step</th>
          <th className="pr-4 font-normal">Start</th>
          <th className="pr-4 text-right font-normal max-sm:hidden">After block</th>
          <th className="text-right font-normal">Duration</th>
        </tr>
      </thead>
      <tbody className="align-baseline">
        {legs
          .flatMap(({ parts }) => parts)
          .map((part, n) => (
            <tr key={n}>
              <td className="pr-4 wrap-anywhere">
                {part.name}
                {part.note !== '' && <span className="text-muted">, {part.note}</span>}
              </td>
              <td className="data pr-4 whitespace-nowrap">
                {part.look === 'check' ? '–' : formatClock(part.from)}
              </td>
              <td className="data pr-4 text-right whitespace-nowrap text-muted max-sm:hidden">
                {part.look === 'check' || startedAt === null
                  ? '–'
                  : `+${formatLength(Math.max(0, part.from - startedAt))}`}
              </td>
              <td
                className="data text-right whitespace-nowrap"
                data-tip={part.look === 'check' ? undefined : `${formatCount(part.ms)} ms`}
              >
                {part.look === 'check' ? '–' : formatLength(part.ms)}
              </td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}
