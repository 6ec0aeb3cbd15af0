/** One visitor with a browser of their own: the page, what it may run, and the pages of the site as they see them. */

import { expect, type Page, type Response } from '@playwright/test';
import { CashierPage } from '../pages/cashier.ts';
import { EventPage } from '../pages/event.ts';
import { GiveBackPage } from '../pages/give-back.ts';
import { HomePage } from '../pages/home.ts';
import { OrderPage } from '../pages/order.ts';
import { OrdersPage } from '../pages/orders.ts';
import { PeoplePage } from '../pages/people.ts';
import { ShowPage } from '../pages/show.ts';
import { SignInPage } from '../pages/sign-in.ts';
import { Api } from './api.ts';
import { EN, type Words } from './words.ts';

export class Site {
  readonly api: Api;
  readonly home: HomePage;
  readonly event: EventPage;
  readonly show: ShowPage;
  readonly signIn: SignInPage;
  readonly order: OrderPage;
  readonly orders: OrdersPage;
  readonly giveBack: GiveBackPage;
  readonly people: PeoplePage;
  readonly cashier: CashierPage;

  constructor(
    readonly page: Page,
    /** Whether the browser runs scripts. */
    readonly runsScripts: boolean,
    readonly words: Words = EN,
  ) {
    this.api = new Api(page.context().request);
    this.home = new HomePage(page, words);
    this.event = new EventPage(page);
    this.show = new ShowPage(page, words);
    this.signIn = new SignInPage(page, words);
    this.order = new OrderPage(page, words);
    this.orders = new OrdersPage(page);
    this.giveBack = new GiveBackPage(page, words);
    this.people = new PeoplePage(page);
    this.cashier = new CashierPage(page, words);
  }

  /** Loads a page and waits until it can be used; gives the answer, for its status. */
  async open(path: string): Promise<Response> {
    const response = await this.page.goto(path);
    if (!response) throw new Error(`${path} was not loaded`);
    await this.usable();
    return response;
  }

  /** Waits until a loaded page does what its buttons say: with scripts, until its island, if it has one, has been taken over. */
  async usable(): Promise<void> {
    if (!this.runsScripts) return;
    await this.page.waitForLoadState('domcontentloaded');
    await expect(this.page.locator('html:not([data-hydrated]):has(leptos-island)')).toHaveCount(0);
  }

  /** Keeps the page from hearing the answers of an address, until the returned function is called. */
  async holdBack(address: RegExp): Promise<() => void> {
    let letGo = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await this.page.route(address, async (route) => {
      await released;
      await route.continue();
    });
    return letGo;
  }

  async openShow(showId: number): Promise<void> {
    await this.open(`/shows/${showId}`);
  }

  async openOrder(orderNo: string): Promise<void> {
    await this.open(`/orders/${orderNo}`);
  }

  /** Makes an account by the page, which the visitor has been led to or opens now. */
  async register(): Promise<void> {
    await this.signIn.register.click();
    await this.usable();
    await this.signIn.makeAccount();
  }

  /** Pays the order that is shown, at the cashier, and comes back to it. */
  async payAtCashier(): Promise<void> {
    await this.order.pay.click();
    await this.cashier.shown();
    await this.cashier.pay.click();
    await this.order.paid();
    await this.usable();
  }
}
