/**
 * Signing in that fails. The page says why and keeps the phone number, never the password, and the next try leads on to where the
 * visitor came from.
 */

import { SCRIPT_ONLY } from '../support/tags.ts';
import { expect, test } from '../support/test.ts';

test('a wrong password is told, and the right one leads on', async ({ site, anotherVisitor }) => {
  const credentials = await (await anotherVisitor()).api.register();
  await site.open('/login?next=/orders');
  await site.signIn.phone.fill(credentials.phone);
  await site.signIn.password.fill('not the password');
  await site.signIn.submit.click();
  await expect(site.page.getByRole('alert')).toHaveText("Phone and password don't belong together. Check both and try again.");
  await site.signIn.signIn(credentials);
  await expect(site.page).toHaveURL(/\/orders$/);
});

test('what was typed is there again after an error, but for the password', { tag: SCRIPT_ONLY }, async ({ site, anotherVisitor }) => {
  const { phone } = await (await anotherVisitor()).api.register();
  await site.open('/login');
  await site.signIn.phone.fill(phone);
  await site.signIn.password.fill('not the password');
  await site.signIn.submit.click();
  await expect(site.page.getByRole('alert')).toBeVisible();
  await expect(site.signIn.phone).toHaveValue(phone);
  await expect(site.signIn.password).toHaveValue('');
  await site.open('/login');
  await expect(site.signIn.phone, 'a new visit starts afresh').toHaveValue('');
});
