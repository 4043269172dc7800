import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig } from 'vite';

/** The gallery of components, which is not part of the package. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/gallery/',
  plugins: [react(), tailwindcss()],
  resolve: { conditions: ['@sluice/source', ...defaultClientConditions] },
  build: {
    target: 'es2023',
    cssTarget: ['chrome125', 'firefox125', 'safari17.5'],
    emptyOutDir: true,
  },
  server: { open: true },
});
