/** `npm run -s bench -- NAME [--json]`: runs one benchmark and prints its figures as a table. */
import { styleText } from 'node:util';
import type { Figures } from './figures.ts';

const benchmarks: Record<string, () => Promise<Figures>> = {
  aptos: async () => (await import('./aptos.ts')).default(),
  cli: async () => (await import('./cli.ts')).default(),
  deliver: async () => (await import('./deliver.ts')).deliverOnSqlite(),
  'deliver-postgres': async () => (await import('./deliver.ts')).deliverOnPostgres(),
  kit: async () => (await import('./kit.ts')).default(),
  match: async () => (await import('./match.ts')).default(),
};

const [name = '', ...flags] = process.argv.slice(2);
const benchmark = benchmarks[name];
if (benchmark === undefined) {
  console.error(
    `usage: npm run -s bench -- NAME [--json]; NAME is one of ${Object.keys(benchmarks).join(', ')}`,
  );
  process.exit(2);
}

const figures = await benchmark();
const width = Math.max(...Object.keys(figures).map((each) => each.length));
for (const [figure, { value, unit, note }] of Object.entries(figures)) {
  const number = value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2);
  console.log(
    `${figure.padEnd(width)}  ${number.padStart(10)} ${unit.padEnd(5)}  ${styleText('dim', note)}`,
  );
}
if (flags.includes('--json')) {
  console.log(
    JSON.stringify(
      Object.fromEntries(
        Object.entries(figures).map(([key, { value, unit }]) => [key, { value, unit }]),
      ),
    ),
  );
}
process.exit(0);
