import { createHmac } from 'node:crypto'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { at, besideOthers, call, codeTo, expectNoViolations, fillSignIn, signIn } from './kit'

/** codeOf is the code that an authenticator application shows, so many steps ahead of the server's clock. */
async function codeOf(page: Page, secret: string, ahead: number): Promise<string> {
  const now = await page.evaluate(async () => (await fetch('/health')).headers.get('Date'))
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...secret].map((c) => letters.indexOf(c).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from(bits.match(/.{8}/g)!.map((b) => Number.parseInt(b, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(new Date(now!).getTime() / 30_000) + ahead))
  const sum = createHmac('sha1', key).update(counter).digest()
  const number = sum.readUInt32BE(sum[19]! & 0xf) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, '0')
}

besideOthers('a second factor is set up, asked for, and replaced by a recovery code', async ({ page, context }) => {
  const email = `factor-${Date.now()}@demo.lastmile.localhost`
  await signIn(page, 'admin')
  const made = await call<{ id: string }>(page, 'POST', '/users', {
    email, firstName: 'Pili', lastName: 'Salama', role: 'support', temporaryPassword: 'temporary-word-3',
  })
  expect(made.status).toBe(201)
  await context.clearCookies()
  await page.goto(`${at.isp}/app/account`)
  await fillSignIn(page, email, 'temporary-word-3')
  await page.getByLabel('Present password').fill('temporary-word-3')
  await page.getByLabel('New password', { exact: true }).fill('my-own-long-word')
  await page.getByLabel('New password again').fill('my-own-long-word')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Set up' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Present password').fill('my-own-long-word')
  await page.keyboard.press('Enter')
  await dialog.getByRole('img', { name: 'QR code of the secret' }).waitFor()
  const secret = (await dialog.locator('.copy').innerText()).replace(/\s/g, '')
  expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  await expectNoViolations(page)
  await dialog.getByLabel('Code that the application shows now').fill(await codeOf(page, secret, 0))
  await page.keyboard.press('Enter')
  await dialog.getByRole('heading', { name: 'Keep these recovery codes' }).waitFor()
  const recovery = await dialog.getByRole('listitem').allInnerTexts()
  expect(recovery).toHaveLength(10)
  await dialog.getByRole('button', { name: 'I have kept them' }).click()
  await page.getByText('10 recovery codes are left.').waitFor()
  // the next sign-in, by a code of the device
  await context.clearCookies()
  await page.goto(`${at.isp}/app/account`)
  await fillSignIn(page, email, 'my-own-long-word')
  const field = page.getByLabel('Code', { exact: true })
  await field.fill('000000')
  await page.keyboard.press('Enter')
  await page.getByText('The code is wrong or was used before.').waitFor()
  expect((await context.cookies()).filter((c) => c.name.endsWith('_token'))).toEqual([])
  await expectNoViolations(page)
  await field.fill(await codeOf(page, secret, 1))
  await page.keyboard.press('Enter')
  await page.getByText('10 recovery codes are left.').waitFor()
  // and without the device
  await context.clearCookies()
  await page.goto(`${at.isp}/app/account`)
  await fillSignIn(page, email, 'my-own-long-word')
  await page.getByRole('button', { name: 'I do not have the phone here' }).click()
  await page.getByLabel('Recovery code').fill(recovery[0]!.toUpperCase())
  await page.keyboard.press('Enter')
  await page.getByText('9 recovery codes are left.').waitFor()
  // removed by the password and another recovery code
  await page.getByRole('button', { name: 'Remove' }).click()
  await dialog.getByLabel('Present password').fill('my-own-long-word')
  await dialog.getByLabel('Code', { exact: true }).fill(recovery[1]!)
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('The second factor is removed.').waitFor()
  await page.getByRole('button', { name: 'Set up' }).waitFor()
})

besideOthers('who needs a second factor and has none can do nothing but set it up', async ({ page, context }) => {
  await signIn(page, 'support')
  const me = await call<object>(page, 'GET', '/auth/me')
  await context.route('**/auth/me', (route) => route.fulfill({ json: { ...me.body, mustEnrolSecondFactor: true } }))
  await page.goto(`${at.isp}/app/customers`)
  await page.getByRole('heading', { name: 'Set up your second factor' }).waitFor()
  expect(await page.getByRole('navigation', { name: 'Menu' }).count()).toBe(0)
  await expectNoViolations(page)
  await page.getByLabel('Present password').fill('not-the-password')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
})

besideOthers('the own e-mail address is changed by a code to the old and one to the new', async ({ page, context }) => {
  const [old, next] = [`old-${Date.now()}@demo.lastmile.localhost`, `new-${Date.now()}@mail.lastmile.localhost`]
  await signIn(page, 'admin')
  const made = await call<{ id: string }>(page, 'POST', '/users', {
    email: old, firstName: 'Hama', lastName: 'Anwani', role: 'support', temporaryPassword: 'temporary-word-4',
  })
  expect(made.status).toBe(201)
  await context.clearCookies()
  await page.goto(`${at.isp}/app/account`)
  await fillSignIn(page, old, 'temporary-word-4')
  await page.getByLabel('Present password').fill('temporary-word-4')
  await page.getByLabel('New password', { exact: true }).fill('my-own-long-word')
  await page.getByLabel('New password again').fill('my-own-long-word')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Change the e-mail address' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('New e-mail address').fill(next)
  await page.keyboard.press('Enter')
  await dialog.getByLabel('Code from the present address').fill(await codeTo(page, old))
  await dialog.getByLabel('Code from the new address').fill(await codeTo(page, next))
  await expectNoViolations(page)
  await dialog.getByRole('button', { name: 'Change' }).click()
  await page.getByText('The address is changed.').waitFor()
  await page.getByText(next).first().waitFor()
  await context.clearCookies()
  await page.goto(`${at.isp}/app/`)
  await fillSignIn(page, next, 'my-own-long-word')
  await page.getByRole('navigation', { name: 'Menu' }).waitFor()
})
