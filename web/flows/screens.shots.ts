import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { test } from 'vitest'
import { drawn, goTo, phone, type Role, signIn, visit, withoutPower } from './kit'
import { pathOf, screens } from './screens'

const out = join('..', 'docs', 'screens')

/** kept writes a picture of what the window shows, as small as a picture of text may be. */
async function kept(page: Page, name: string) {
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 55 })
  await session.detach()
  await mkdir(out, { recursive: true })
  await writeFile(join(out, `${name}.webp`), Buffer.from(data, 'base64'))
}

const forms = [
  { name: 'light', of: screens, options: { colorScheme: 'light' } },
  { name: 'dark', of: screens, options: { colorScheme: 'dark' } },
  { name: 'phone', of: screens.filter((s) => s.phone), options: phone },
] as const

for (const form of forms) {
  for (const role of ['admin', 'support', 'root'] satisfies Role[]) {
    test(`pictures for ${role}, ${form.name}`, { timeout: 600_000 }, async () => {
      const { page, context } = await visit(form.options)
      await signIn(page, role)
      if (role === 'admin') await withoutPower(page)
      for (const screen of form.of.filter((s) => s.role === role)) {
        await goTo(page, role, await pathOf(screen, page))
        await drawn(page)
        await kept(page, `${screen.name}-${form.name}`)
      }
      await context.close()
    })
  }
}
