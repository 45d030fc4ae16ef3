import { expect } from 'vitest'
import { button, field, told } from './hands'
import { call, expectNoViolations, flow, goTo, type Row, signIn, unpaid } from './kit'

flow('a wrong invoice is corrected, and its money and its period go along', async ({ page }) => {
  await signIn(page, 'admin')
  const { id, due } = await unpaid(page, `Sahihisho${Date.now()}`)
  expect((await call(page, 'POST', '/payments/cash', { subscriberId: id, amount: due, reference: `N${Date.now()}` })).status).toBeLessThan(300)
  const service = async () => (await call<{ data: Row[] }>(page, 'GET', `/subscriptions?subscriberId=${id}`)).body.data[0]
  await expect.poll(async () => (await service())?.state).toBe('active')
  const until = (await service())?.paidUntil
  const wrong = (await call<{ data: Row[] }>(page, 'GET', `/invoices?subscriberId=${id}`)).body.data[0]
  await goTo(page, 'admin', `/invoices/${String(wrong?.id)}`)

  await page.getByRole('link', { name: 'Correct', exact: true }).click()
  await page.getByRole('heading', { name: `Correct ${String(wrong?.number)}` }).waitFor()
  await expectNoViolations(page, 'the page that corrects an invoice')
  await field(page, /^Price of one/).fill(String(due - 300))
  await field(page, 'Reason').fill('an old price')
  await button(page, 'Issue the corrected invoice').click()
  await told(page, /was made: KES/)
  await page.getByRole('link', { name: String(wrong?.number), exact: true }).waitFor() // in the place of
  await page.getByText('Paid', { exact: true }).first().waitFor()
  expect((await service())?.paidUntil).toBe(until)

  await page.getByRole('link', { name: String(wrong?.number), exact: true }).click()
  await page.getByText('Corrected by').waitFor()
  expect(await page.getByRole('link', { name: 'Correct', exact: true }).count()).toBe(0)
})
