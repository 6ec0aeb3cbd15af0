import { expect, type Locator, type Page } from '@playwright/test';
import { newCredentials, type Credentials } from '../support/api.ts';
import type { Words } from '../support/words.ts';

/** Signing in, and making an account: two pages that lead to each other and onward. */
export class SignInPage {
  readonly phone: Locator;
  readonly password: Locator;
  readonly submit: Locator;
  /** The link from signing in to making an account. */
  readonly register: Locator;
  readonly keepsChoice: Locator;
  readonly heading: Locator;

  constructor(
    private readonly page: Page,
    private readonly words: Words,
  ) {
    const main = page.getByRole('main');
    this.phone = page.getByLabel(words.phone);
    this.password = page.getByLabel(words.password);
    this.submit = main.getByRole('button');
    this.register = main.getByRole('link', { name: words.register });
    this.keepsChoice = main.getByText(words.keepsChoice);
    this.heading = main.getByRole('heading', { level: 1 });
  }

  async signIn(credentials: Credentials): Promise<void> {
    await expect(this.heading).toHaveText(this.words.signIn);
    await this.send(credentials);
  }

  async makeAccount(credentials: Credentials = newCredentials()): Promise<void> {
    await expect(this.heading).toHaveText(this.words.register);
    await this.send(credentials);
  }

  private async send(credentials: Credentials): Promise<void> {
    await this.phone.fill(credentials.phone);
    await this.password.fill(credentials.password);
    const left = this.page.waitForURL((url) => !/^\/(login|register)$/.test(url.pathname));
    await this.submit.click();
    await left;
  }
}
