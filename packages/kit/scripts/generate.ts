/** Writes the committed files that are made of the contract: `npm run generate -w @sluice/kit`. */
import { writeFileSync } from 'node:fs';
import { generated } from './generated.ts';

for (const { url, text } of await generated()) writeFileSync(url, text);
