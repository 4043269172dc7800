/**
 * Serves the console under `/console/`: its files, and the same page for all paths without an
 * extension.
 */
import { readFile } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';
import type { Context } from 'hono';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.map': 'application/json',
};

const SECURITY_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
} as const;

/** Serves the files in `folder`, or a page with build instructions if there are none. */
export function createConsoleHandler(folder: string | undefined) {
  return async (context: Context): Promise<Response> => {
    const path = decode(context.req.path.replace(/^\/console\/?/, ''));
    if (path === undefined) return context.notFound();
    const asked = normalize(`/${path}`);
    const isPage = extname(asked) === '';
    const file = folder && join(folder, isPage ? 'index.html' : asked);
    const bytes =
      file !== undefined && (isPage || file.startsWith(folder + sep))
        ? await readFile(file).catch(() => undefined)
        : undefined;
    if (bytes === undefined) {
      return isPage
        ? context.text('The console is not built. Run: npm run build -w @sluice/console\n', 503)
        : context.notFound();
    }
    return context.body(new Uint8Array(bytes), 200, {
      ...SECURITY_HEADERS,
      'content-type':
        CONTENT_TYPES[isPage ? '.html' : extname(asked)] ?? 'application/octet-stream',
      // The names of built files contain a hash of their content; the name of the page does not
      // contain one.
      'cache-control': asked.startsWith('/assets/')
        ? 'public, max-age=31536000, immutable'
        : 'no-cache',
    });
  };
}

/** Returns the path of a file; undefined for paths that browsers never send. */
function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
