import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { drawn, expectNoViolations, flow, goTo, phone, type Role, sideways, signIn, violations } from './kit'
import { pathOf, screens } from './screens'

// The forms in which a page is looked at, one after the other, without being read again: colours first, then the width.
const forms = [
  { name: 'light', take: (page: Page) => page.emulateMedia({ colorScheme: 'light' }) },
  { name: 'dark', take: (page: Page) => page.emulateMedia({ colorScheme: 'dark' }) },
  { name: 'on a phone', take: (page: Page) => page.setViewportSize(phone.viewport) },
] as const

/** inEachForm looks at what a page shows, and gives what is wrong with it in any form. */
async function inEachForm(page: Page, look: () => Promise<string[]>) {
  const desk = page.viewportSize()
  const faults: string[] = []
  for (const form of forms) {
    await form.take(page)
    await drawn(page)
    faults.push(...(await look()).map((fault) => `${form.name}: ${fault}`))
  }
  await page.emulateMedia({ colorScheme: 'light' })
  if (desk) await page.setViewportSize(desk)
  return faults
}

/** faultsOf finds what keeps somebody from using a page, which follows the size of its window within a moment. */
async function faultsOf(page: Page) {
  await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth, null, { timeout: 2_000 }).catch(() => undefined)
  const text = await page.locator('main').innerText()
  const wrong = /There is no such page|This page has failed|Your role does not show/.exec(text) ?? []
  const wide = await sideways(page)
  return [...wrong, ...(wide > 0 ? [`${wide} pixels wider than the window`] : []), ...(await violations(page))]
}

for (const role of ['admin', 'support', 'root'] satisfies Role[]) {
  flow(`everybody can use the screens of ${role}, light, dark and on a phone`, async ({ page }) => {
    await signIn(page, role)
    const faults: string[] = []
    for (const screen of screens.filter((s) => s.role === role)) {
      try {
        await goTo(page, role, await pathOf(screen, page))
        faults.push(...(await inEachForm(page, () => faultsOf(page))).map((fault) => `${screen.name}, ${fault}`))
      } catch (cause) {
        faults.push(`${screen.name}: ${String(cause)}`)
      }
    }
    expect(faults).toEqual([])
  }, {}, 400_000)
}

for (const form of forms) {
  flow(`everybody can use the sign-in, the search and the menu, ${form.name}`, async ({ page }) => {
    await form.take(page)
    await signIn(page, 'admin')
    await page.keyboard.press('/')
    await page.getByRole('combobox', { name: 'Search' }).fill('house')
    await page.getByRole('option').first().waitFor()
    await expectNoViolations(page, `search, ${form.name}`)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Calls behind this page' }).waitFor()
    await expectNoViolations(page, `the menu, ${form.name}`)
    await page.getByRole('menuitem', { name: 'Calls behind this page' }).click()
    await page.getByRole('dialog').getByText('/auth/me').first().waitFor()
    await expectNoViolations(page, `calls, ${form.name}`)
    await goTo(page, 'admin', '/staff')
    await page.getByRole('button', { name: 'Add somebody' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).waitFor()
    await expectNoViolations(page, `a dialog, ${form.name}`)
    await page.context().clearCookies()
    await page.reload()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await expectNoViolations(page, `sign-in, ${form.name}`)
  })
}
