/**
 * Vitest's workers import this file first. With it, the threads of the SQLite ledger run the program
 * that `npm test` packed: the tests open the ledger hundreds of times, and a thread starts faster
 * from one file than from its 400 modules. Plain JavaScript, because older versions of Node, which
 * have no `registerHooks`, also run the kit's tests.
 */
import module from 'node:module';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const THREAD = /\/sqlite\/(sqliteWorker|sqliteCheckpointer)\.ts$/;
const program = process.env['TESTS_PROGRAM'];

if (!isMainThread && program !== undefined) {
  module.registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const name = THREAD.exec(found.url)?.[1];
      if (name === undefined) return found;
      const { href: url } = new URL(`${name}.js`, pathToFileURL(program));
      return { ...found, url, format: 'module' };
    },
  });
}
