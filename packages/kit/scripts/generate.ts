/** Writes the committed files that are generated from the contract. */
import { writeFileSync } from 'node:fs';
import { generated } from './generated.ts';

for (const { url, text } of await generated()) writeFileSync(url, text);
