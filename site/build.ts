/**
 * `npm run site`: builds the documentation site into `site/dist`. Exits with 1 if the build fails,
 * or if a link or an anchor is dead.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { installLocked } from '../test/installLocked.ts';
import { findDeadLinks } from './links.ts';
import { stage } from './stage.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const PAGES = path.join(FOLDER, 'pages');
const SITE = path.join(FOLDER, 'dist');
const VITEPRESS = path.join(FOLDER, 'node_modules/vitepress/bin/vitepress.js');

installLocked(new URL('./', import.meta.url), 'VitePress');
const pages = stage(PAGES);
rmSync(SITE, { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [VITEPRESS, 'build', FOLDER], { stdio: 'inherit' });
if (status === 0) {
  for (const page of pages) copyFileSync(path.join(PAGES, page), path.join(SITE, page));
  const dead = findDeadLinks(SITE);
  for (const link of dead) process.stderr.write(`site: dead link in ${link}\n`);
  process.stderr.write(`site: ${pages.length} pages in site/dist, ${dead.length} dead links\n`);
  process.exitCode = dead.length > 0 ? 1 : 0;
} else {
  process.exitCode = 1;
}
