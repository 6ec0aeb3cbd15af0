import { expect, type Locator, type Page } from '@playwright/test';
import type { Words } from '../support/words.ts';

/** The simulated bank's page, which is another site: it runs no scripts and knows nothing of ours but the way back. */
export class CashierPage {
  readonly pay: Locator;
  readonly fail: Locator;
  readonly amount: Locator;
  readonly back: Locator;
  /** One of the switches: after how many seconds the shop is told. */
  readonly delay: Locator;

  constructor(
    private readonly page: Page,
    private readonly words: Words,
  ) {
    this.pay = page.getByRole('button', { name: words.cashierPay, exact: true });
    this.fail = page.getByRole('button', { name: words.cashierFail, exact: true });
    this.amount = page.getByRole('heading', { level: 1 });
    this.back = page.getByRole('link', { name: words.cashierBack });
    this.delay = page.getByRole('spinbutton', { name: /^Delay in seconds/ });
  }

  /** Waits until the page is there; gives its address, which names the attempt to pay. */
  async shown(): Promise<string> {
    await this.page.waitForURL(/\/gateway\/cashier\//);
    await expect(this.pay).toBeVisible();
    return this.page.url();
  }

  /** Turns one of the switches on that make the bank misbehave. */
  async turnOn(name: RegExp): Promise<void> {
    await this.page.getByText(this.words.cashierSwitches, { exact: true }).click();
    await this.page.getByRole('checkbox', { name }).check();
  }
}
