import type { Locator, Page } from '@playwright/test';
import type { Words } from '../support/words.ts';

/** What is on, by city and day. */
export class HomePage {
  constructor(
    private readonly page: Page,
    private readonly words: Words,
  ) {}

  /** The link to a day; 0 is today. */
  day(ahead: number): Locator {
    return this.page.getByRole('navigation', { name: this.words.day, exact: true }).getByRole('link').nth(ahead);
  }

  /** An event's row. */
  event(title: string): Locator {
    return this.page.getByRole('article').filter({ has: this.page.getByRole('heading', { name: title, exact: true }) });
  }

  /** The link from an event's row to the event. */
  eventLink(title: string): Locator {
    return this.event(title).getByRole('heading').getByRole('link', { name: title, exact: true });
  }
}
