/** Options that start Chromium headless, without background requests to other hosts. */
export const CHROMIUM_OPTIONS = {
  executablePath: process.env['CHROMIUM_BIN'] ?? '/usr/bin/chromium',
  args: [
    '--headless',
    // Otherwise, the width of text depends on the build of Chromium.
    '--font-render-hinting=none',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};
