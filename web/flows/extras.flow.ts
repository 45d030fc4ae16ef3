import { expect } from 'vitest'
import { button, confirms, dialogOf, field, inMenu, told } from './hands'
import { call, expectNoViolations, flow, goTo, type Row, signIn, unpaid } from './kit'

flow('a charge and a discount go onto the next invoice, and are taken off it', async ({ page }) => {
  await signIn(page, 'admin')
  const { id, due } = await unpaid(page, `Nyongeza${Date.now()}`)
  expect((await call(page, 'POST', '/payments/cash', { subscriberId: id, amount: due, reference: `N${Date.now()}` })).status).toBeLessThan(300)
  const service = async () => (await call<{ data: Row[] }>(page, 'GET', `/subscriptions?subscriberId=${id}`)).body.data[0]
  await expect.poll(async () => (await service())?.state).toBe('active')
  const line = String((await service())?.id)
  const next = async () => (await call<{ data: Row[] }>(page, 'GET', `/subscriptions/${line}/upcoming`)).body.data[0]?.total
  const price = Number(await next())
  const dialog = dialogOf(page)
  const menu = button(page, 'What can be done with Home 10 Mbps')
  await goTo(page, 'admin', `/customers/${id}`)

  await inMenu(page, menu, 'Charge, add-on or discount')
  await field(dialog, 'On the invoice').fill('New cable')
  await field(dialog, 'Amount').fill('700')
  await expectNoViolations(page, 'the dialog of a charge')
  await button(dialog, 'Add it').click()
  await told(page, 'It is on the next invoice.')
  const beside = page.getByRole('list', { name: 'Beside the price: Home 10 Mbps' })
  await beside.getByText(/New cable: KES.700, once/).waitFor()
  expect(await next()).toBe(price + 700)

  await inMenu(page, menu, 'Charge, add-on or discount')
  await dialog.getByRole('combobox', { name: 'What it is' }).or(field(dialog, 'What it is')).first().click()
  await page.getByRole('option', { name: 'Discount, each period' }).click()
  await field(dialog, 'On the invoice').fill('Welcome')
  await field(dialog, 'Percent of the plan’s price').fill('50')
  await field(dialog, 'For how many periods').fill('3')
  await button(dialog, 'Add it').click()
  await beside.getByText('Welcome: 50 % off, 0 of 3 periods so far').waitFor()
  expect(await next()).toBe(price / 2 + 700)

  await button(beside, 'Remove New cable').click()
  await confirms(page, 'Remove it')
  await told(page, 'Later invoices are without it.')
  await expect.poll(next).toBe(price / 2)
  await page.getByText('A discount of 50 % was given, from the next invoice on.').first().waitFor()
})
