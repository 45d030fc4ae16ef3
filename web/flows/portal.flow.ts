import { expect } from 'vitest'
import { button, dialogOf, field, inMenu, told } from './hands'
import { call, expectNoViolations, flow, goTo, signIn, unpaid } from './kit'

flow('an address is let into the portal, and sees the customer no more at once', async ({ page }) => {
  await signIn(page, 'admin')
  const { id } = await unpaid(page, `Tovuti${Date.now()}`)
  const dialog = dialogOf(page)
  await goTo(page, 'admin', `/customers/${id}`)
  await inMenu(page, button(page, 'More'), 'Portal access')
  await dialog.getByText('Nobody yet.').waitFor()
  const contact = await field(dialog, 'Phone or e-mail address').inputValue()
  expect(contact).toMatch(/^\+254\d{9}$/)
  await expectNoViolations(page, 'the dialog of the portal')
  await button(dialog, 'Let it in').click()
  await told(page, 'The address can sign in by a code now.')
  const end = button(dialog, `End what ${contact} sees`)
  await end.waitFor()
  expect(await field(dialog, 'Phone or e-mail address').inputValue()).toBe('')

  await field(dialog, 'Phone or e-mail address').fill('no address')
  await button(dialog, 'Let it in').click()
  await dialog.getByText(/must be a phone number with its country/).waitFor()
  await end.click()
  await told(page, `${contact} does not see this customer any more.`)
  await dialog.getByText('Nobody yet.').waitFor()
  const path = `/subscribers/${id}/portal-access`
  expect((await call<{ signIns: unknown[] }>(page, 'GET', path)).body.signIns).toEqual([])
})
