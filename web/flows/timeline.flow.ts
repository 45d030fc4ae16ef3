import type { Locator } from 'playwright-core'
import { expect } from 'vitest'
import { isBack } from './hands'
import { call, expectNoSideways, expectNoViolations, flow, goTo, phone, signIn, unpaid } from './kit'

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

const none = 'Choose a day to read what it was.'

for (const [how, press, window] of [
  ['click', (day: Locator) => day.click(), {}],
  ['tap on a phone', (day: Locator) => day.tap(), phone],
] as const) {
  flow(`one ${how} on a day of the last 30 shows that day, and another one or Esc closes it`, async ({ page }) => {
    await signIn(page, 'admin')
    const { id } = await unpaid(page, `Siku${Date.now()}`)
    await goTo(page, 'admin', `/customers/${id}`)
    const bar = page.getByRole('list', { name: 'The last 30 days' })
    const days = bar.getByRole('button')
    await days.nth(29).waitFor()
    expect(await days.count()).toBe(30)
    const said = page.getByRole('status').filter({ hasText: none })
    await said.waitFor()
    for (const nth of [29, 0, 14]) {
      const day = days.nth(nth)
      const words = (await day.getAttribute('aria-label'))!
      await press(day)
      await page.getByRole('status').filter({ hasText: words }).waitFor()
      expect(await bar.locator('[aria-pressed=true]').count(), words).toBe(1)
      expect(await day.getAttribute('aria-pressed'), words).toBe('true')
      if (nth === 0) continue // the next day takes its place
      await (nth === 29 ? press(day) : page.keyboard.press('Escape'))
      await said.waitFor()
      expect(await bar.locator('[aria-pressed=true]').count(), words).toBe(0)
    }
    await page.keyboard.press('Shift+Tab')
    expect(await days.nth(13).getAttribute('aria-pressed'), 'the keyboard reads a day as it comes to it').toBe('true')
    await page.keyboard.press('Escape')
    await said.waitFor()
    await page.getByRole('heading', { level: 1, name: /^Siku/ }).waitFor()
    await expectNoSideways(page)
    await expectNoViolations(page)
  }, window)
}
