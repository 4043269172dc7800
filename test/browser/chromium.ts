/** How the tests start Chromium: headless, and without a word to anybody outside. */
export const CHROMIUM_OPTIONS = {
  executablePath: process.env['CHROMIUM_BIN'] ?? '/usr/bin/chromium',
  args: [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};
