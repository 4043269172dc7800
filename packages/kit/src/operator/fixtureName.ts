import type { DeliverySummary } from '../contract/shapes.generated.ts';

/**
 * Returns the name of a fixture file: `<tag>-<block>-<phase>-<end of the id>.json`. The file
 * contains the body of a delivery. `sluice fixture save` and the console write such files;
 * `sluice fixture run` sends them.
 */
export const toFixtureName = ({
  id,
  tag,
  blockNumber,
  phase,
}: Pick<DeliverySummary, 'id' | 'tag' | 'blockNumber' | 'phase'>): string =>
  `${tag.replaceAll(/[^\w.-]+/g, '_') || 'stream'}-${blockNumber}-${phase}-${id.slice(-6)}.json`;
