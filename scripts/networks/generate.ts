/** Updates the table of networks in `docs/nodes.md`. */
import { writeFileSync } from 'node:fs';
import { PAGE, withNetworks } from './section.ts';

writeFileSync(PAGE, withNetworks());
