import { expect } from 'vitest'
import { expectNoViolations, flow, goTo, phone, type Role, sideways, signIn, violations } from './kit'
import { pathOf, screens } from './screens'

const forms = [
  { name: 'light', options: { colorScheme: 'light' } },
  { name: 'dark', options: { colorScheme: 'dark' } },
  { name: 'on a phone', options: phone },
] as const

for (const role of ['admin', 'support', 'root'] satisfies Role[]) {
  for (const form of forms) {
    flow(`everybody can use the screens of ${role}, ${form.name}`, async ({ page }) => {
      await signIn(page, role)
      const faults: string[] = []
      for (const screen of screens.filter((s) => s.role === role)) {
        try {
          await goTo(page, role, await pathOf(screen, page))
          const text = await page.locator('main').innerText()
          const wrong = /There is no such page|This page has failed|Your role does not show/.exec(text)
          const wide = await sideways(page)
          const found = [...(wrong ?? []), ...(wide > 0 ? [`${wide} pixels wider than the window`] : []), ...(await violations(page))]
          faults.push(...found.map((f) => `${screen.name}: ${f}`))
        } catch (cause) {
          faults.push(`${screen.name}: ${String(cause)}`)
        }
      }
      expect(faults).toEqual([])
    }, form.options, 400_000)
  }
}

for (const form of forms) {
  flow(`everybody can use the sign-in, the search and the menu, ${form.name}`, async ({ page }) => {
    await signIn(page, 'admin')
    await page.keyboard.press('/')
    await page.getByRole('combobox', { name: 'Search' }).fill('house')
    await page.getByRole('option').first().waitFor()
    await expectNoViolations(page, `search, ${form.name}`)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Calls behind this page' }).click()
    await page.getByRole('dialog').getByText('/auth/me').first().waitFor()
    await expectNoViolations(page, `calls, ${form.name}`)
    await page.context().clearCookies()
    await page.reload()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await expectNoViolations(page, `sign-in, ${form.name}`)
  }, form.options)
}
