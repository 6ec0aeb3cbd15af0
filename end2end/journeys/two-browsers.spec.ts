/**
 * Two browsers on one seat. Both have chosen it; one holds it first. The other is told which seat was lost, keeps the rest of
 * the choice, holds nothing, and can go on. The first buyer's own map shows the seats as theirs, not as somebody's.
 */

import { statesOf } from '../support/seat-states.ts';
import { SCRIPT_ONLY } from '../support/tags.ts';
import { expect, test } from '../support/test.ts';

const TITLE = 'Two at One Seat';

test('the slower of two is told which seat was lost, keeps the others, and holds nothing', async ({
  site: first,
  anotherVisitor,
  showOf,
}) => {
  const show = await showOf(TITLE);
  const second = await anotherVisitor();
  await first.api.register();
  await second.api.register();
  // Its map is a moment behind.
  const release = await second.holdBack(/\/shows\/\d+\/seats/);
  await first.openShow(show.id);
  await second.openShow(show.id);
  const [own, contested, spare] = await first.show.freeSeats(3);
  await first.show.choose([own!, contested!]);
  await second.show.choose([contested!, spare!]);

  await first.show.hold.click();
  const orderNo = await first.order.number();
  await first.order.payable();
  await second.show.hold.click();

  await expect(second.show.alerts.filter({ hasText: 'Somebody was faster' })).toBeVisible();
  await expect(second.show.alerts.filter({ hasText: contested!.place })).toContainText('no longer chosen');
  await second.show.chosenAre([spare!]);
  const indexes = [own!.index, contested!.index, spare!.index];
  expect(await statesOf(second.page.request, show.id, indexes)).toEqual(['locked', 'locked', 'available']);
  expect(await second.api.orders(), 'nobody holds a part of a refused wish').toEqual([]);
  release();
  await second.show.seatIs(contested!, 'locked');

  await second.usable();
  await second.show.hold.click();
  const secondNo = await second.order.number();
  await second.order.payable();
  await expect(second.order.fact('Tickets')).not.toContainText(contested!.place);

  await first.openShow(show.id);
  await first.show.seatIs(own!, 'mine');
  await first.show.seatIs(contested!, 'mine');
  await first.show.seatIs(spare!, 'locked');
  await first.page.getByRole('link', { name: 'Continue to pay' }).click();
  await first.order.payable();
  expect(await first.order.number()).toBe(orderNo);

  // The room is small; it is left as it was found.
  await first.api.cancel(orderNo);
  await second.api.cancel(secondNo);
});

test('a lost seat comes with an offer of a free one nearby', { tag: SCRIPT_ONLY }, async ({ site, anotherVisitor, showOf }) => {
  const show = await showOf(TITLE);
  const faster = await anotherVisitor();
  await faster.api.register();
  await site.openShow(show.id);
  const [wanted] = await site.show.freeSeats(1);
  await site.show.choose([wanted!]);

  const orderNo = await faster.api.placePending(show.id, [wanted!.index]);

  const lost = site.show.alerts.filter({ hasText: wanted!.place });
  await expect(lost, 'the map tells it before anything is sent').toContainText('no longer chosen');
  await site.show.chosenAre([]);
  await lost.getByRole('button', { name: /^Take .* instead$/ }).click();
  await expect(site.show.map.getByRole('checkbox', { checked: true })).toHaveCount(1);
  await expect(site.show.seat(wanted!.index)).not.toBeChecked();

  await faster.api.cancel(orderNo);
  await site.show.seatIs(wanted!, 'available');
});
