import { expect } from 'vitest'
import { focusIn } from './hands'
import { at, besideOthers, call, codeTo, drawn, expectNoViolations, fillSignIn, firstOf, goTo, password, people, signIn } from './kit'

besideOthers('a wrong password is refused in words, the right one opens the page that was asked for', async ({ page }) => {
  await page.goto(`${at.isp}/app/customers?q=acacia`)
  await fillSignIn(page, people.support.email, 'not-the-password')
  await page.getByRole('alert').waitFor()
  expect(await page.getByLabel('E-mail address').inputValue()).toBe(people.support.email)
  expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe('')
  await fillSignIn(page, people.support.email, password)
  await page.getByRole('link', { name: 'Acacia House' }).waitFor()
  expect(new URL(page.url()).search).toBe('?q=acacia')
})

besideOthers('a new colleague chooses a password before anything else', async ({ page, context }) => {
  const email = `new-${Date.now()}@demo.lastmile.localhost`
  await signIn(page, 'admin')
  const made = await call(page, 'POST', '/users', {
    email, firstName: 'Neema', lastName: 'Mpya', role: 'support', temporaryPassword: 'temporary-word-1',
  })
  expect(made.status).toBe(201)
  await context.clearCookies()
  await page.goto(`${at.isp}/app/`)
  await fillSignIn(page, email, 'temporary-word-1')
  await page.getByRole('heading', { name: 'Choose your password' }).waitFor()
  await page.reload()
  await page.getByLabel('Present password').fill('temporary-word-1')
  await page.getByLabel('New password', { exact: true }).fill('short')
  await page.getByText('At least 10 characters.').waitFor()
  await page.getByLabel('New password', { exact: true }).fill('my-own-long-word')
  await page.getByLabel('New password again').fill('my-own-long-word')
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Menu' }).waitFor()
  await context.clearCookies()
  await page.goto(`${at.isp}/app/`)
  await fillSignIn(page, email, 'my-own-long-word')
  await page.getByRole('navigation', { name: 'Menu' }).waitFor()
})

besideOthers('who has forgotten the password chooses a new one with a code', async ({ page, context }) => {
  const email = `lost-${Date.now()}@demo.lastmile.localhost`
  await signIn(page, 'admin')
  const made = await call(page, 'POST', '/users', {
    email, firstName: 'Sahau', lastName: 'Tena', role: 'support', temporaryPassword: 'temporary-word-2',
  })
  expect(made.status).toBe(201)
  await context.clearCookies()
  await page.goto(`${at.isp}/app/`)
  await page.getByRole('button', { name: 'Forgotten? Use a code' }).click()
  await page.getByLabel('E-mail address or phone').fill(email)
  await page.keyboard.press('Enter')
  await page.getByLabel('Code', { exact: true }).fill(await codeTo(page, email))
  await page.getByLabel('Choose a new password, too').check()
  await page.getByLabel('New password', { exact: true }).fill('my-own-long-word')
  await expectNoViolations(page)
  await page.getByRole('button', { name: 'Save the password' }).click()
  await page.getByText('Your password was changed.').waitFor()
  await fillSignIn(page, email, 'my-own-long-word')
  await page.getByRole('navigation', { name: 'Menu' }).waitFor()
})

besideOthers('at the address of the platform a code leads to the own organization', async ({ page }) => {
  await page.goto(`${at.root}/app/`)
  await page.getByRole('button', { name: 'Forgotten? Use a code' }).click()
  await page.getByLabel('E-mail address or phone').fill(people.support.email)
  await page.getByRole('button', { name: 'Send me a code' }).click()
  const field = page.getByLabel('Code', { exact: true })
  await field.fill('12345')
  await field.fill(await codeTo(page, people.support.email))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('main').getByRole('link').click()
  await page.getByRole('navigation', { name: 'Menu' }).waitFor()
  expect(page.url()).toContain(`${at.isp}/app/`)
  expect(page.url()).not.toContain('chosen')
})

besideOthers('a session that ends while somebody types is renewed above the page, and nothing is lost', async ({ page, context }) => {
  await signIn(page, 'admin', '/customers')
  const filter = page.getByRole('textbox', { name: 'Name, phone or account' })
  await filter.fill('aca')
  await page.getByRole('link', { name: 'Acacia House' }).waitFor()
  await context.clearCookies()
  await filter.fill('acacia h')
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.getByLabel('Password', { exact: true }).fill(password)
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('link', { name: 'Acacia House' }).waitFor()
  expect(await filter.inputValue()).toBe('acacia h')
})

besideOthers('support has neither the places nor the pages of an admin', async ({ page }) => {
  await signIn(page, 'support')
  const menu = page.getByRole('navigation', { name: 'Menu' })
  await menu.getByRole('link', { name: 'Customers' }).waitFor()
  for (const name of ['Routers', 'Staff', 'Payment gateway', 'System']) {
    expect(await menu.getByRole('link', { name }).count(), name).toBe(0)
  }
  const refused: string[] = []
  page.on('response', (r) => r.status() === 403 && refused.push(r.url()))
  for (const path of ['/routers', '/staff', '/gateway', '/system']) {
    await page.goto(`${at.isp}/app${path}`)
    await page.getByText('Your role does not show this page').waitFor()
  }
  await page.getByRole('link', { name: 'Go to Home' }).click()
  await drawn(page)
  await page.goto(`${at.isp}/app/customers`)
  await page.getByRole('table').waitFor()
  expect(refused, 'calls that the role may not make').toEqual([])
})

besideOthers('who signs out leaves no customer on the device', async ({ page }) => {
  await signIn(page, 'support', '/customers?q=acacia')
  await page.getByRole('link', { name: 'Acacia House' }).click()
  await page.getByRole('heading', { level: 1, name: 'Acacia House' }).waitFor()
  await page.keyboard.press('/')
  await page.getByRole('option', { name: /Acacia House/ }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Your account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('Acacia')
})

besideOthers('a page that could not be opened while the server was away opens by itself when it is back', async ({ page }) => {
  await signIn(page, 'support')
  await page.clock.install()
  await page.route('**/auth/me', (route) => route.fulfill({ status: 503, json: { statusCode: 503, code: 'unavailable' } }))
  await page.goto(`${at.isp}/app/customers`)
  await page.getByRole('alert').waitFor()
  await page.unroute('**/auth/me')
  await page.clock.fastForward(16_000)
  await page.getByRole('navigation', { name: 'Menu' }).waitFor()
})

const suspended = { status: 403, json: { statusCode: 403, code: 'organization_suspended', message: 'Suspended.' } }

besideOthers('the page of an organization that is suspended goes on by itself after the resume', async ({ page }) => {
  await signIn(page, 'support')
  await page.clock.install()
  await page.route('**/auth/me', (route) => route.fulfill(suspended))
  await page.goto(`${at.isp}/app/customers`)
  await page.getByRole('heading', { name: 'This organization is suspended' }).waitFor()
  await page.unroute('**/auth/me')
  await page.clock.fastForward(16_000)
  await page.getByRole('navigation', { name: 'Menu' }).waitFor()
})

besideOthers('an open page of an organization that is suspended says that, and keeps what is typed', async ({ page }) => {
  await signIn(page, 'admin')
  await page.route('**/events/stream*', (route) => route.fulfill(suspended))
  await page.goto(`${at.isp}/app/customers/new`)
  const name = page.getByRole('textbox', { name: 'First name' })
  await name.fill('Neema')
  await page.route('**/auth/me', (route) => route.fulfill(suspended))
  await page.getByRole('status').getByText('This organization is suspended by the operator of the platform.').waitFor()
  expect(await page.getByText('the connection is broken').count()).toBe(0)
  expect(await name.inputValue()).toBe('Neema')
})

besideOthers('who has signed in with the keyboard is on the first page, and the next Tab is its first control', async ({ page }) => {
  await page.goto(`${at.isp}/app/customers`)
  await focusIn(page, 'input[type=email]')
  await page.keyboard.type(people.support.email)
  await page.keyboard.press('Tab')
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Customers' }).waitFor()
  await focusIn(page, '#content')
  await page.keyboard.press('Tab')
  await focusIn(page, '#content :is(a, button, input)')
})

besideOthers('after a session was renewed the focus is where somebody typed', async ({ page, context }) => {
  await signIn(page, 'support', '/customers')
  const filter = page.getByRole('textbox', { name: 'Name, phone or account' })
  await filter.focus()
  await context.clearCookies()
  await page.keyboard.type('acacia')
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.getByLabel('Password', { exact: true }).fill(password)
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('link', { name: 'Acacia House' }).waitFor()
  await focusIn(page, 'input')
  expect(await filter.evaluate((e) => e === document.activeElement)).toBe(true)
})

besideOthers('while the server takes long to say who somebody is, the page says that it opens', async ({ page }) => {
  await signIn(page, 'support')
  let answer = () => {}
  const asked = new Promise<void>((done) => {
    answer = done
  })
  await page.route('**/auth/me', async (route) => {
    await asked
    await route.continue()
  })
  await page.goto(`${at.isp}/app/customers`)
  await page.getByRole('status').getByText('Opening…').waitFor()
  answer()
  await page.getByRole('heading', { level: 1, name: 'Customers' }).waitFor()
  expect(await page.getByText('Opening…').count()).toBe(0)
})

besideOthers('a session that ends above a dialog gives the focus back to the field in which somebody types', async ({ page, context }) => {
  await signIn(page, 'admin')
  const { id } = await firstOf(page, '/subscribers?q=acacia')
  await goTo(page, 'admin', `/customers/${id}`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const notes = page.getByRole('dialog').getByRole('textbox', { name: 'Notes' })
  await notes.fill('Behind the gate')
  await context.clearCookies()
  await page.evaluate(() => window.dispatchEvent(new Event('focus')))
  const ended = page.getByRole('dialog', { name: 'Your session has ended' })
  await ended.getByLabel('Password', { exact: true }).fill(password)
  await page.keyboard.press('Enter')
  await ended.waitFor({ state: 'hidden' })
  await page.waitForFunction(() => document.activeElement instanceof HTMLTextAreaElement)
  expect(await notes.inputValue()).toBe('Behind the gate')
})
