// Debian's chromium, or the one that CHROMIUM names, with nothing that would go to a network.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

export const chromiumPath = process.env.CHROMIUM || '/usr/bin/chromium';

export function hasChromium() {
  return existsSync(chromiumPath);
}

export function launch() {
  return chromium.launch({
    executablePath: chromiumPath,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}
