import { expect } from 'vitest'
import { flow, signIn } from './kit'

flow('who is at the end of a list while a filter is taken away gets the next rows', async ({ page }) => {
  await signIn(page, 'admin', '/receipts?state=allocated')
  const rows = page.locator('.rows-frame')
  await page.getByRole('row').nth(3).waitFor()
  let answer: () => void = () => undefined
  const line = new Promise<void>((done) => (answer = done)) // so slow that somebody scrolls first
  await page.route((url) => url.pathname === '/receipts' && !url.searchParams.has('state'), async (route) => {
    await line
    await route.continue()
  })
  const asked = page.waitForRequest((r) => r.url().includes('/receipts?') && !r.url().includes('state='))
  await page.getByRole('search').getByRole('combobox', { name: 'State' }).selectOption({ index: 0 })
  await asked
  const height = () => rows.evaluate((e) => e.scrollHeight)
  const before = await height()
  await rows.evaluate((e) => e.scrollTo(0, e.scrollHeight))
  await page.getByRole('row').filter({ has: page.locator('a') }).last().waitFor()
  answer()
  await expect.poll(height, { timeout: 10_000 }).toBeGreaterThan(before)
})
