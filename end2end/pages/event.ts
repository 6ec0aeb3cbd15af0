import type { Locator, Page } from '@playwright/test';

/** One event with its shows. */
export class EventPage {
  constructor(private readonly page: Page) {}

  title(title: string): Locator {
    return this.page.getByRole('heading', { level: 1, name: title, exact: true });
  }

  /** The link to one show: its time, price and free seats. */
  show(showId: number): Locator {
    return this.page.getByRole('main').getByRole('listitem').locator(`a[href="/shows/${showId}"]`);
  }
}
