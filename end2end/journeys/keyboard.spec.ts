/**
 * A whole purchase by keyboard alone: Tab goes from one thing to the next, the map is one stop in which arrows move over the
 * seats and Space chooses, Enter sends forms. What has the focus can be seen.
 */

import type { Locator } from '@playwright/test';
import { newCredentials } from '../support/api.ts';
import type { Site } from '../support/site.ts';
import { SCRIPT_ONLY } from '../support/tags.ts';
import { expect, test } from '../support/test.ts';

const TITLE = 'By Keyboard';
/** More stops than any page has outside its map. */
const STOPS_MAX = 40;

/** Presses Tab until `target` has the focus, and expects that it shows. */
async function tabTo(site: Site, target: Locator): Promise<void> {
  await expect(target).toBeVisible();
  for (let stop = 0; stop < STOPS_MAX; stop += 1) {
    await site.page.keyboard.press('Tab');
    if (await target.evaluate((element) => element === document.activeElement)) {
      const outline = await target.evaluate((element) => getComputedStyle(element).outlineStyle);
      expect(outline, 'what has the focus can be seen').not.toBe('none');
      return;
    }
  }
  throw new Error(`${target} is not within ${STOPS_MAX} presses of Tab`);
}

/** The checkbox that has the focus. */
function focusedSeat(site: Site): Locator {
  return site.show.map.locator('input:focus');
}

test('everything from the show to the paid order can be done without a mouse', { tag: SCRIPT_ONLY }, async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  await site.open(`/events/${show.eventId}`);
  await tabTo(site, site.event.show(show.id));
  await site.page.keyboard.press('Enter');

  const [first] = await site.show.freeSeats(1);
  // Arrows move over the seats only when a script has the map.
  await site.usable();
  await tabTo(site, site.show.seat(first!.index));
  await site.page.keyboard.press('Space');
  await expect(site.show.seat(first!.index)).toBeChecked();
  await site.page.keyboard.press('ArrowRight');
  await expect(focusedSeat(site)).not.toBeChecked();
  await site.page.keyboard.press('Enter');
  await expect(focusedSeat(site)).toBeChecked();
  await expect(site.show.map.getByRole('checkbox', { checked: true })).toHaveCount(2);

  await tabTo(site, site.show.hold);
  await site.page.keyboard.press('Enter');
  await tabTo(site, site.signIn.register);
  await site.page.keyboard.press('Enter');
  const account = newCredentials();
  await expect(site.signIn.heading).toHaveText('Create an account');
  await tabTo(site, site.signIn.phone);
  await site.page.keyboard.type(account.phone);
  await tabTo(site, site.signIn.password);
  await site.page.keyboard.type(account.password);
  await site.page.keyboard.press('Enter');

  await site.page.waitForURL((url) => url.pathname === `/shows/${show.id}` && url.searchParams.has('seats'));
  await site.usable();
  await tabTo(site, site.show.hold);
  await site.page.keyboard.press('Enter');
  await site.order.payable();
  await site.usable();
  await tabTo(site, site.order.pay);
  await site.page.keyboard.press('Enter');
  await site.cashier.shown();
  await tabTo(site, site.cashier.pay);
  await site.page.keyboard.press('Enter');
  await site.order.paid();
});

test('the map is one stop of the Tab key, and it is come back to where it was left', { tag: SCRIPT_ONLY }, async ({
  site,
  showOf,
}) => {
  const show = await showOf(TITLE);
  await site.openShow(show.id);
  const [first] = await site.show.freeSeats(1);
  await tabTo(site, site.show.seat(first!.index));
  await site.page.keyboard.press('ArrowDown');
  const below = await focusedSeat(site).inputValue();
  expect(below).not.toBe(String(first!.index));

  await site.page.keyboard.press('Tab');
  await expect(focusedSeat(site)).toHaveCount(0);
  await site.page.keyboard.press('Shift+Tab');

  await expect(focusedSeat(site)).toHaveValue(below);
});

test('the first stop of a page leads past its head', async ({ site }) => {
  await site.open('/');
  await site.page.keyboard.press('Tab');
  await expect(site.page.getByRole('link', { name: 'Skip to the content' })).toBeFocused();
  await site.page.keyboard.press('Enter');
  await expect(site.page.getByRole('main')).toBeFocused();
});
