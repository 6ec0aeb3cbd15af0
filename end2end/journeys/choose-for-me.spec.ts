/**
 * Buying without choosing. Somebody names a price category and a number, and gets the best seats together: no map is touched.
 * More than the show allows is refused in words, and nothing is held.
 */

import { expect, test } from '../support/test.ts';

const TITLE = 'Chosen for Them';

test('three seats side by side in one row are held without touching the map', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  await site.open('/login');
  await site.register();

  await site.openShow(show.id);
  await site.show.bestZone.selectOption({ label: 'Standard · ¥45.00' });
  await site.show.bestQuantity.fill('3');
  await site.show.bestQuantity.blur();
  await site.show.best.click();

  await site.order.number();
  await site.order.payable();
  await expect(site.order.fact('Total')).toContainText('¥135.00');
  const seats = (await site.order.fact('Tickets').textContent()) ?? '';
  expect(seats.match(/Row /g), 'all in one row').toHaveLength(1);
  const numbers = (seats.match(/\d+/g) ?? []).map(Number);
  expect(numbers, 'side by side').toHaveLength(3);
  expect(Math.max(...numbers) - Math.min(...numbers)).toBe(2);
});
