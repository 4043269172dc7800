import { describeNodeFlag, nameOfChain } from '@sluice/kit/contract';
import { flagOf } from '../../../config/settings.ts';
import type { StreamRecord } from '../../../store/streams/contract.ts';
import type { ApiFamily, ProblemNeeds } from '../../family.ts';

/**
 * Returns the problems that limit the matches or attempts of an active stream, with their fixes;
 * empty if there are none.
 */
export function problemOf(record: StreamRecord, family: ApiFamily, needs: ProblemNeeds): string {
  const problems: string[] = [];
  const missing = record.chainIds.filter((chain) => !needs.hasSource(chain));
  if (missing.length > 0) {
    const names = missing.map(nameOfChain);
    const flags = missing.map(describeNodeFlag);
    problems.push(`No source for ${names.join(', ')}: start the service with ${flags.join(' ')}`);
  }
  for (const chain of record.chainIds.filter((each) => !missing.includes(each))) {
    const why = needs.whyDown(chain);
    if (why !== undefined) problems.push(`${nameOfChain(chain)} is down: ${why}`);
  }
  const { timeoutSeconds } = record.limits;
  if (timeoutSeconds !== null && timeoutSeconds > needs.maxTimeoutSeconds) {
    problems.push(
      `Attempts end after ${needs.maxTimeoutSeconds} s instead of ${timeoutSeconds} s because of ${flagOf('maxTimeoutSeconds')}`,
    );
  }
  return [...problems, ...family.problemsOf(record, needs)].join('. ');
}
