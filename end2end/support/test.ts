/** The `test` of all journeys: a visitor, more visitors, the journey's own show, and an eye on what the browser complains of. */

import { test as base, expect, type Browser, type BrowserContext, type BrowserContextOptions } from '@playwright/test';
import { Api, type Show } from './api.ts';
import { Site } from './site.ts';
import type { Words } from './words.ts';

interface Fixtures {
  /** Everything the browsers of this test complained of; the test fails when there is something. */
  complaints: string[];
  /** The first visitor. */
  site: Site;
  /** Another visitor, in a browser that shares nothing with the others. */
  anotherVisitor: (options?: BrowserContextOptions & { words?: Words }) => Promise<Site>;
  /** The show that `catalogue.json` has for this journey and project. */
  showOf: (title: string) => Promise<Show>;
}

export const test = base.extend<Fixtures>({
  complaints: [
    async ({}, use) => {
      const complaints: string[] = [];
      await use(complaints);
      expect(complaints, 'the browser has nothing to complain of').toEqual([]);
    },
    { auto: true },
  ],

  site: async ({ page, javaScriptEnabled, complaints }, use) => {
    listen(page.context(), complaints);
    await use(new Site(page, javaScriptEnabled));
  },

  anotherVisitor: async ({ browser, contextOptions, javaScriptEnabled, complaints }, use) => {
    const opened: BrowserContext[] = [];
    await use(async ({ words, ...options } = {}) => {
      const context = await open(browser, { ...contextOptions, javaScriptEnabled, ...options });
      opened.push(context);
      listen(context, complaints);
      return new Site(await context.newPage(), options.javaScriptEnabled ?? javaScriptEnabled, words);
    });
    for (const context of opened) await context.close();
  },

  showOf: async ({ request }, use, testInfo) => {
    // The two projects run at the same time, so each has a show of its own: the first and the second of the event.
    const place = testInfo.project.name === 'no-js' ? 1 : 0;
    await use(async (title) => {
      const show = (await new Api(request).showsOf(title))[place];
      if (!show) throw new Error(`the catalogue has no show of “${title}” for ${testInfo.project.name}`);
      return show;
    });
  },
});

export { expect };

function open(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  return browser.newContext(options);
}

/** Errors of the page's script and of its policies. A failed answer of the server is the journeys' matter, not this. */
function listen(context: BrowserContext, complaints: string[]): void {
  context.on('weberror', (error) => complaints.push(error.error().message));
  context.on('console', (message) => {
    const isAnswer = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isAnswer) complaints.push(message.text());
  });
}
