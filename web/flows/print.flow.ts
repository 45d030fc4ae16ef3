import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { besideOthers, drawn, expectNoSideways, firstOf, goTo, signIn } from './kit'

// A4 between the margins of most browsers, and narrower than any screen of a desk.
const paper = { width: 690, height: 980 }

/** onPaper shows a page as it is printed, from a window in dark colours. */
async function onPaper(page: Page) {
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.waitForFunction(() => document.documentElement.dataset.mantineColorScheme === 'dark')
  await page.emulateMedia({ colorScheme: 'dark', media: 'print' })
  await page.setViewportSize(paper)
  // Its style is read after the page.
  await page.locator('.mantine-AppShell-navbar').waitFor({ state: 'hidden' })
}

/** expectPaper finds black on white, and nothing of the frame of the pages. */
async function expectPaper(page: Page) {
  for (const part of ['nav', 'header', '.search-box', '.views']) {
    expect(await page.locator(part).filter({ visible: true }).count(), part).toBe(0)
  }
  expect(await page.getByRole('main').getByRole('button').filter({ visible: true }).count(), 'buttons').toBe(0)
  const colours = await page.evaluate(() => {
    const all = [...document.querySelectorAll('main, main *')].filter((e) => e.getClientRects().length > 0)
    const of = (name: 'color' | 'backgroundColor', from: Element[]) => [...new Set(from.map((e) => getComputedStyle(e)[name]))]
    return { body: getComputedStyle(document.body).backgroundColor, behind: of('backgroundColor', all), text: of('color', all) }
  })
  expect(colours).toEqual({ body: 'rgb(255, 255, 255)', behind: ['rgb(255, 255, 255)'], text: ['rgb(0, 0, 0)'] })
  await page.getByText('Demo Networks').filter({ visible: true }).first().waitFor()
  await expectNoSideways(page)
}

/** cut gives the texts of cells that are wider than their column. */
const cut = (page: Page) => page.locator('main :is(th, td)').evaluateAll((cells) =>
  cells.filter((c) => c.clientWidth > 0 && c.scrollWidth > c.clientWidth + 1).map((c) => c.textContent))

besideOthers('an invoice is printed alone, black on white, with all of its columns', async ({ page }) => {
  await signIn(page, 'admin')
  const { id, number } = await firstOf(page, '/invoices?state=issued')
  await goTo(page, 'admin', `/invoices/${id}`)
  await onPaper(page)
  await expectPaper(page)
  await page.getByRole('heading', { level: 1, name: String(number) }).waitFor()
  // The demo's prices have tax in them.
  for (const name of ['Description', 'Quantity', 'Price of one', 'With tax']) {
    await page.getByRole('columnheader', { name, exact: true }).waitFor()
  }
  await page.getByText('Customer', { exact: true }).waitFor()
  const sums = await page.locator('dl.sums > *').allInnerTexts()
  const sum = (name: RegExp) => Number((sums[sums.findIndex((text) => name.test(text)) + 1] ?? '').replace(/[^\d.]/g, ''))
  expect(sum(/^Without tax/) + sum(/^VAT/)).toBeCloseTo(sum(/^Total/), 2)
  expect(await cut(page)).toEqual([])
})

besideOthers('a statement is printed with the account, all columns and every line that was read', async ({ page }) => {
  await signIn(page, 'admin')
  const { id, accountNumber } = await firstOf(page, '/subscribers?q=acacia')
  await goTo(page, 'admin', `/customers/${id}?view=statement`)
  await drawn(page)
  const lines = page.getByRole('table', { name: 'Statement' }).locator('tr[data-index]')
  await lines.first().waitFor()
  await onPaper(page)
  await expectPaper(page)
  await page.getByRole('heading', { level: 1, name: 'Acacia House' }).waitFor()
  await page.getByText(`Account ${String(accountNumber)}`).waitFor()
  const shown = await page.getByRole('columnheader').filter({ visible: true }).count()
  expect(shown).toBe(5)
  expect(await cut(page)).toEqual([])
  // The screen draws what is seen; the paper has all of it.
  const said = await page.getByText(/^\d+ rows?/).innerText()
  await page.waitForFunction((n) => document.querySelectorAll('tr[data-index]').length === n, Number.parseInt(said, 10))
})
