import { defineConfig, type PlaywrightTestConfig } from '@playwright/test';
import { SCRIPT_ONLY } from './support/tags.ts';

/** Where the server answers. `cargo xtask e2e` says so; by hand it is `http://localhost:<port>`. */
const BASE_URL = process.env.BASE_URL ?? 'http://localhost:3000';

/** The distribution's Chromium: nothing is downloaded. The flags keep it from talking to anybody but the server. */
const CHROMIUM: NonNullable<PlaywrightTestConfig['use']>['launchOptions'] = {
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-quic',
    '--no-first-run',
  ],
};

export default defineConfig({
  testDir: 'journeys',
  outputDir: 'test-results',
  forbidOnly: true,
  retries: 0,
  // One browser a core of the smallest machine we support.
  workers: 2,
  // All waits are bounds for a machine that also builds something: they make a failure later, not a test slower.
  timeout: 120_000,
  // A purchase crosses Kafka and the gateway, on a machine that also runs the load of the other browser.
  expect: { timeout: 30_000 },
  reporter: [['list']],
  use: {
    baseURL: BASE_URL,
    locale: 'en-US',
    // Not the venue's: a page that shows the browser's time instead of the venue's is then seen.
    timezoneId: 'America/New_York',
    viewport: { width: 1280, height: 900 },
    // A click that leads to another page waits for that page's answer, and so does a question to the API.
    actionTimeout: 30_000,
    navigationTimeout: 30_000,
    trace: 'retain-on-failure',
    launchOptions: CHROMIUM,
  },
  projects: [
    { name: 'hydrated', use: { javaScriptEnabled: true } },
    { name: 'no-js', use: { javaScriptEnabled: false }, grepInvert: new RegExp(SCRIPT_ONLY) },
  ],
});
