/** Options that start Chromium headless, without background requests to other hosts. */
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
