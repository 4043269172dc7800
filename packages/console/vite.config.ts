import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig, type Plugin } from 'vite';
import { thirdPartyLicenses } from '../kit/scripts/thirdParty.ts';

/** Preloads the Latin fonts, which the first paint needs, in parallel with the script. */
const preloadLatinFonts: Plugin = {
  name: 'preload-latin-fonts',
  transformIndexHtml: {
    order: 'post',
    handler: (_html, { bundle }) =>
      Object.keys(bundle ?? {})
        .filter((file) => /geist(-mono)?-latin-wght-normal.*\.woff2$/.test(file))
        .map((file) => ({
          tag: 'link',
          attrs: {
            rel: 'preload',
            as: 'font',
            type: 'font/woff2',
            href: `/console/${file}`,
            crossorigin: '',
          },
          injectTo: 'head',
        })),
  },
};

/** Folders of the packages that the console includes as styles and fonts. */
const STYLES = ['@fontsource-variable/geist', '@fontsource-variable/geist-mono', 'tailwindcss'].map(
  (name) => dirname(fileURLToPath(import.meta.resolve(`${name}/package.json`))),
);

const service = process.env['SLUICE_URL'] ?? 'http://127.0.0.1:4400';

export default defineConfig({
  base: '/console/',
  plugins: [react(), tailwindcss(), preloadLatinFonts, thirdPartyLicenses(STYLES)],
  resolve: { conditions: ['@sluice/source', ...defaultClientConditions] },
  build: {
    target: 'es2023',
    // Keeps light-dark(), which Lightning CSS would replace for older browsers.
    cssTarget: ['chrome125', 'firefox125', 'safari17.5'],
    // The service's content security policy forbids data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            // The kit's index files import these modules, but no page needs them to start.
            {
              name: 'hashes',
              test: /@noble.hashes|kit.src.contract.rules.(?:auditHash|checksum|hash)\.ts$/,
              priority: 1,
            },
            // Bundles the code that every page needs into one file. If it were split into twenty
            // files, some would wait for a free connection.
            { name: 'first', tags: ['$initial'] },
          ],
        },
      },
    },
  },
  server: {
    // The service rejects origins other than its own, so the proxy sends the service's origin.
    proxy: Object.fromEntries(
      ['/sluice', '/streams', '/docs', '/openapi.json'].map((path) => [
        path,
        { target: service, changeOrigin: true, headers: { origin: service } },
      ]),
    ),
  },
});
