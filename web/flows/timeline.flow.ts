import { expect } from 'vitest'
import { isBack } from './hands'
import { call, expectNoViolations, flow, goTo, signIn, unpaid } from './kit'

flow('what one payment did is one line of the timeline, which opens by the keyboard', async ({ page }) => {
  await signIn(page, 'admin')
  const { id, due } = await unpaid(page, `Hatua${Date.now()}`)
  expect((await call(page, 'POST', '/payments/cash', { subscriberId: id, amount: due, reference: `Book ${Date.now()}` })).status).toBeLessThan(300)
  await goTo(page, 'admin', `/customers/${id}?view=timeline`)
  const paid = page.getByRole('button', { name: /^Paid .* · \d+ steps$/ })
  await paid.waitFor()
  const credited = page.getByText(/^A payment of .* in cash came onto the account/)
  expect(await credited.count()).toBe(0)
  await paid.focus()
  await page.keyboard.press('Enter')
  await credited.waitFor()
  await page.getByText(/was paid in full/).waitFor()
  expect(await paid.getAttribute('aria-expanded')).toBe('true')
  await isBack(paid)
  await expectNoViolations(page)
})
