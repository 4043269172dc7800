import { describeUnverifiedCode } from '@sluice/kit/sluice';
import { formatQuantity } from '../ui/text/format.ts';

/**
 * Lists codes of unverified blocks, with what each means and what an operator can do. Renders
 * nothing if there are none.
 */
export function UnverifiedCodes({
  codes,
  counts,
}: {
  codes: readonly string[];
  /** Number of blocks with each code, if several blocks are described. */
  counts?: Readonly<Record<string, number>>;
}) {
  if (codes.length === 0) return null;
  return (
    <ul aria-label="What is not verified" className="text-12">
      {codes.map((code) => {
        const { meaning, remedy } = describeUnverifiedCode(code);
        const blocks = counts?.[code];
        return (
          <li key={code} className="break-words text-muted">
            <span className="data text-warn">{code}</span>
            {blocks !== undefined && ` in ${formatQuantity(blocks, 'block')}`}: {meaning}{' '}
            <span className="text-faint">{remedy}</span>
          </li>
        );
      })}
    </ul>
  );
}
