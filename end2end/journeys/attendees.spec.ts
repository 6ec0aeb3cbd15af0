/**
 * Tickets by name. A show that wants it sells each ticket to a person whom the buyer has named; the person is added on the way
 * and the chosen seat is still chosen afterwards. The order says whom each ticket is for. One person gets no more tickets than
 * the show allows, whichever account asks.
 */

import { randomInt } from 'node:crypto';
import type { Person } from '../pages/people.ts';
import { expect, test } from '../support/test.ts';

const TITLE = 'By Name';

/** Somebody new, so that runs on one database don't meet. */
function somebody(name: string): Person {
  return { name, passport: `E${randomInt(10 ** 9, 10 ** 10)}` };
}

test('a ticket is bought for a person who is added on the way, and the seat stays chosen', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  const ann = somebody('Ann Example');
  await site.api.register();
  await site.openShow(show.id);
  const seats = await site.show.freeSeats(1);
  await site.show.choose(seats);
  await site.show.hold.click();
  await expect(site.show.alerts.filter({ hasText: 'a person who is named' }), 'nobody is named yet').toBeVisible();
  expect(await site.api.orders()).toHaveLength(0);

  await site.people.addFirst.click();
  await site.usable();
  await site.people.fill({ ...ann, passport: '12' });
  await site.people.add.click();
  await expect(site.people.faults.filter({ hasText: 'number of such a document' })).toBeVisible();
  await site.people.areListed([]);
  await site.people.fill(ann);
  await site.people.add.click();

  await site.page.waitForURL((url) => url.pathname === `/shows/${show.id}`);
  await site.usable();
  await site.show.chosenAre(seats);
  await site.people.tick(ann).check();
  await site.show.hold.click();
  const orderNo = await site.order.number();
  await site.order.payable();
  await expect(site.order.fact('Tickets')).toContainText('for Ann Example');
  await site.payAtCashier();
  await expect(site.order.fact('Tickets')).toContainText('for Ann Example');

  await site.open('/account');
  await site.people.areListed([ann.name]);
  const shown = (await site.people.listed.first().textContent()) ?? '';
  expect(shown, 'the document is not shown').not.toContain(ann.passport);
  await site.page.getByRole('button', { name: 'Remove Ann Example' }).click();
  await site.people.areListed([]);
  await site.openOrder(orderNo);
  await expect(site.order.fact('Tickets'), 'the ticket keeps its name').toContainText('for Ann Example');
});

test('a second account with the same document is refused by the person’s name', async ({ site, anotherVisitor, showOf }) => {
  const show = await showOf(TITLE);
  const bob = somebody('Bob Example');
  await site.api.register();
  const added = await site.api.post('/api/attendees/add', {
    name: bob.name,
    document_kind: 'passport',
    document_number: bob.passport,
  });
  const { id } = (await added.json()) as { id: number };
  await site.openShow(show.id);
  const [first] = await site.show.freeSeats(1);
  const placed = await site.api.post('/api/orders/place', {
    show_id: show.id,
    'seats[]': [first!.index],
    'attendees[]': [id],
    idempotency_key: `journey-${bob.passport}`,
  });
  expect(placed.ok(), await placed.text()).toBe(true);

  const other = await anotherVisitor();
  await other.api.register();
  await other.open('/account');
  await other.people.fill({ ...bob, name: 'B. Example' });
  await other.people.add.click();
  await other.people.areListed(['B. Example']);
  await other.openShow(show.id);
  const seats = await other.show.freeSeats(1);
  await other.show.choose(seats);
  await other.people.tick({ ...bob, name: 'B. Example' }).check();
  await other.show.hold.click();

  await expect(other.show.alerts.filter({ hasText: 'B. Example has 1 already' })).toBeVisible();
  expect(await other.api.orders()).toHaveLength(0);
  await other.openShow(show.id);
  await other.show.seatIs(seats[0]!, 'available');
});
