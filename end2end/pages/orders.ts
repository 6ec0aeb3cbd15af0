import type { Locator, Page } from '@playwright/test';

/** The customer's orders. */
export class OrdersPage {
  constructor(private readonly page: Page) {}

  /** The entry of one order. */
  entry(orderNo: string): Locator {
    const link = this.page.locator(`a[href="/orders/${orderNo}"]`);
    return this.page.getByRole('main').getByRole('listitem').filter({ has: link });
  }

  /** All entries. */
  get entries(): Locator {
    return this.page.getByRole('main').getByRole('listitem').filter({ has: this.page.locator('a[href^="/orders/"]') });
  }
}
