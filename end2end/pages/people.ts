import { expect, type Locator, type Page } from '@playwright/test';

/** A person as the form asks for them. */
export interface Person {
  name: string;
  passport: string;
}

/** The people a customer buys for: the list and its form on the account's page, and the ticks on a show's. */
export class PeoplePage {
  readonly add: Locator;
  /** The way from a show to the form, while the list is empty. */
  readonly addFirst: Locator;
  readonly listed: Locator;
  readonly faults: Locator;

  constructor(private readonly page: Page) {
    const section = page.getByRole('region', { name: 'People you buy for' });
    this.add = section.getByRole('button', { name: 'Add a person' });
    this.addFirst = page.getByRole('link', { name: 'Add the first person' });
    this.listed = section.getByRole('listitem');
    this.faults = section.getByRole('alert');
  }

  async fill(person: Person): Promise<void> {
    await this.page.getByLabel('Name, as in the document').fill(person.name);
    await this.page.getByLabel('Document', { exact: true }).selectOption({ label: 'Passport' });
    await this.page.getByLabel('Document number').fill(person.passport);
  }

  /** The tick of a person in the form that orders seats. */
  tick(person: Person): Locator {
    const question = this.page.getByRole('group', { name: 'Who are the tickets for?' }).first();
    return question.getByRole('checkbox', { name: person.name });
  }

  /** Expects the list to be exactly these names. */
  async areListed(names: readonly string[]): Promise<void> {
    await expect(this.listed).toHaveCount(names.length);
    for (const name of names) await expect(this.listed.filter({ hasText: name })).toBeVisible();
  }
}
