import type { Locator, Page } from '@playwright/test';
import type { Words } from '../support/words.ts';

/** Giving paid tickets back: which ones, then once more what comes back. */
export class GiveBackPage {
  readonly tickets: Locator;
  readonly goOn: Locator;
  readonly yes: Locator;
  readonly main: Locator;

  constructor(
    private readonly page: Page,
    words: Words,
  ) {
    this.main = page.getByRole('main');
    this.tickets = this.main.getByRole('checkbox');
    this.goOn = this.main.getByRole('button', { name: words.goOn, exact: true });
    this.yes = this.main.getByRole('button', { name: words.yesGiveBack });
  }

  /** An amount of the second step, by what stands before it. */
  amount(term: string): Locator {
    return this.page.locator('dt', { hasText: new RegExp(`^${term}$`) }).locator('xpath=following-sibling::dd[1]');
  }
}
