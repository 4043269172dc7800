/**
 * Serves the console under `/console/`: its files, and the same page for all other paths, unless they
 * end like a file. Serves the documentation under `/docs/`.
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

/**
 * Serves the files in `folder`. If the console is not built, each page is a 503 with build
 * instructions.
 */
export function createConsoleHandler(folder: string | undefined) {
  return async (context: Context): Promise<Response> => {
    const asked = askedOf(context, /^\/console\/?/);
    if (asked === undefined) return context.notFound();
    const file = await readInside(folder, asked);
    // The path of a page may end with the name of a host.
    const isPage = file === undefined && CONTENT_TYPES[extname(asked)] === undefined;
    const bytes = isPage ? await readInside(folder, 'index.html') : file;
    if (bytes === undefined) {
      return isPage
        ? context.text('The console is not built. Run: npm run build -w @sluice/console\n', 503)
        : context.notFound();
    }
    return context.body(new Uint8Array(bytes), 200, {
      ...SECURITY_HEADERS,
      'content-type':
        CONTENT_TYPES[isPage ? '.html' : extname(asked)] ?? 'application/octet-stream',
      // Built files in `/assets/` have a hash of their content in their name, so they can be cached
      // forever.
      'cache-control': asked.startsWith('/assets/')
        ? 'public, max-age=31536000, immutable'
        : 'no-cache',
    });
  };
}

/** Serves the Markdown pages in `folder` and their list, `llms.txt`, as text. */
export function createDocsHandler(folder: string | undefined) {
  return async (context: Context): Promise<Response> => {
    const asked = askedOf(context, /^\/docs\//);
    const isPage = asked !== undefined && ['.md', '.txt'].includes(extname(asked));
    const bytes = isPage ? await readInside(folder, asked) : undefined;
    if (bytes === undefined) return context.notFound();
    return context.body(new Uint8Array(bytes), 200, {
      ...SECURITY_HEADERS,
      // Some browsers download Markdown instead of showing it.
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-cache',
    });
  };
}

/** Returns the path below a prefix, without `..`; undefined if its percent-encoding is invalid. */
function askedOf(context: Context, prefix: RegExp): string | undefined {
  const path = decode(context.req.path.replace(prefix, ''));
  return path === undefined ? undefined : normalize(`/${path}`);
}

/** Returns the content of a file; undefined if the folder has no such file. */
async function readInside(folder: string | undefined, path: string): Promise<Buffer | undefined> {
  if (folder === undefined) return undefined;
  const file = join(folder, path);
  return file.startsWith(folder + sep) ? readFile(file).catch(() => undefined) : undefined;
}

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
