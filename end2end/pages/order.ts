import { expect, type Locator, type Page } from '@playwright/test';
import type { Words } from '../support/words.ts';

/** One order: how it stands, its deadline, what was ordered, and what its buyer can do. */
export class OrderPage {
  readonly heading: Locator;
  /** Heading and story together: what is said aloud when the order comes to another stage. */
  readonly story: Locator;
  /** What remains, counted down by a script; without scripts there is only the deadline. */
  readonly timer: Locator;
  readonly deadline: Locator;
  readonly pay: Locator;
  readonly backToCashier: Locator;
  readonly cancel: Locator;
  readonly giveBack: Locator;
  readonly chooseAgain: Locator;
  /** Leads to giving paid tickets back. */
  readonly giveTicketsBack: Locator;
  /** Tickets that were given back, or are about to be. */
  readonly struckTickets: Locator;
  /** The order's refunds. */
  readonly refunds: Locator;
  /** What happened to the order. */
  readonly happenings: Locator;

  constructor(
    private readonly page: Page,
    private readonly words: Words,
  ) {
    const main = page.getByRole('main');
    this.heading = main.getByRole('heading', { level: 1 });
    this.story = main.getByRole('status').filter({ has: page.getByRole('heading', { level: 1 }) });
    this.timer = main.getByRole('timer');
    this.deadline = main.getByRole('heading', { level: 2, name: words.deadline });
    this.pay = main.getByRole('button', { name: words.pay });
    this.backToCashier = main.getByRole('button', { name: words.backToCashier });
    this.cancel = main.getByText(words.cancelOrder, { exact: true });
    this.giveBack = main.getByRole('button', { name: words.giveBack });
    this.giveTicketsBack = main.getByRole('link', { name: words.giveTicketsBack, exact: true });
    this.struckTickets = main.locator('dd s');
    this.refunds = main.getByRole('region', { name: words.refunds }).getByRole('listitem');
    this.happenings = main.getByRole('region', { name: words.whatHappened }).getByRole('listitem');
    this.chooseAgain = main.getByRole('link', { name: words.chooseAgain });
  }

  /** The number of the order that is shown, once there is one. */
  async number(): Promise<string> {
    await this.page.waitForURL(/\/orders\/\d{19}$/);
    return new URL(this.page.url()).pathname.split('/').at(-1) ?? '';
  }

  /** A fact of the list, by what stands before it. */
  fact(term: string): Locator {
    return this.page.locator('dt', { hasText: new RegExp(`^${term}$`) }).locator('xpath=following-sibling::dd[1]');
  }

  /** Waits until the order awaits payment. */
  async payable(): Promise<void> {
    await expect(this.heading).toHaveText(this.words.payInTime);
    await expect(this.pay).toBeEnabled();
  }

  /** Waits until the order is paid, and expects that nothing leads to paying again. */
  async paid(): Promise<void> {
    await expect(this.heading).toHaveText(this.words.paid);
    await expect(this.timer.or(this.deadline)).toBeHidden();
    await expect(this.pay.or(this.backToCashier)).toBeHidden();
  }
}
