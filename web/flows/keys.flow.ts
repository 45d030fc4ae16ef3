import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect } from 'vitest'
import { button, confirms, dialogOf, field, told } from './hands'
import { at, besideOthers, call, expectNoSideways, expectNoViolations, goTo, phone, type Row, signIn } from './kit'

/** asProgram calls the organization as a program with a key; names below localhost are known to browsers alone. */
async function asProgram(key: string, path: string) {
  const { host, port } = new URL(at.isp)
  const asked = request({ host: '127.0.0.1', port, path, headers: { Host: host, Authorization: `Bearer ${key}` } }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  let text = ''
  for await (const part of answer) text += String(part)
  return { status: answer.statusCode, text }
}

besideOthers('a key is made with scopes, shown once, replaced with an overlap, and revoked', async ({ page }) => {
  const name = `Uhasibu ${Date.now()}`
  await signIn(page, 'admin', '/api-keys')
  await page.getByRole('main').getByRole('link', { name: 'New API key' }).first().click()
  await field(page, 'Name').fill(name)
  expect(await button(page, 'New API key').isDisabled()).toBe(true)
  await page.getByRole('checkbox', { name: 'Read: Invoices', exact: true }).check()
  // Support changes no customer, so no key of that role does.
  const change = page.getByRole('checkbox', { name: 'Change: Customers', exact: true })
  expect(await change.count()).toBe(0)
  await page.getByRole('combobox', { name: 'Role' }).selectOption('admin')
  await change.check()
  expect(await page.getByRole('checkbox', { name: 'Read: Customers', exact: true }).isDisabled()).toBe(true)
  await page.getByRole('combobox', { name: 'Role' }).selectOption('support')
  await page.getByRole('checkbox', { name: 'Read: Customers', exact: true }).uncheck()
  await field(page, 'Allowed addresses').fill('no address')
  await expectNoViolations(page, 'the form of a key')
  await button(page, 'New API key').click()
  await page.getByText(/allowedAddresses|address/i).filter({ hasText: /must|address/ }).first().waitFor()
  await field(page, 'Allowed addresses').fill('')
  await button(page, 'New API key').click()

  const once = dialogOf(page).filter({ hasText: 'This is shown once' })
  const first = await once.locator('.copy').innerText()
  expect(first.trim()).toMatch(/^lastmile_dev_[0-9a-f]{32}_[0-9a-f]{72}$/)
  await expectNoViolations(page, 'a key that is shown once')
  await page.keyboard.press('Escape')
  await button(once, 'I have copied it').click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await page.getByText('Read: Invoices').waitFor()
  expect(await page.content()).not.toContain(first.trim())
  expect(await asProgram(first.trim(), '/invoices')).toMatchObject({ status: 200 })
  expect(await asProgram(first.trim(), '/subscribers')).toMatchObject({ status: 403, text: expect.stringContaining('scope_required') as string })

  await button(page, 'Replace the text').click()
  await dialogOf(page).getByRole('combobox', { name: 'The text of before works on' }).selectOption('1h')
  await button(dialogOf(page), 'Replace the text').click()
  await once.getByText(/The text of before works until/).waitFor()
  const second = await once.locator('.copy').innerText()
  await button(once, 'I have copied it').click()
  for (const key of [first, second]) expect((await asProgram(key.trim(), '/invoices')).status).toBe(200)
  await page.getByText(/works until/).waitFor()
  await expectNoViolations(page, 'the page of a key')

  await button(page, 'Revoke').click()
  await dialogOf(page).getByText('The program that has it is refused from this moment on').waitFor()
  await field(dialogOf(page), /^Type .* to confirm/).fill(name)
  await confirms(page, 'Revoke')
  await told(page, `${name} opens nothing any more.`)
  await page.getByText('Revoked', { exact: true }).first().waitFor()
  for (const key of [first, second]) {
    expect(await asProgram(key.trim(), '/invoices')).toMatchObject({ status: 401, text: expect.stringContaining('api_key_revoked') as string })
  }
  await goTo(page, 'admin', '/api-keys')
  await page.getByRole('row').filter({ hasText: name }).getByText('Revoked').waitFor()
  await expectNoViolations(page, 'the list of keys')
})

besideOthers('support sees no keys, and cannot read them', async ({ page }) => {
  await signIn(page, 'support', '/api-keys')
  await page.getByRole('heading', { level: 1, name: 'Your role does not show this page' }).waitFor()
  expect(await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'API keys' }).count()).toBe(0)
  expect((await call(page, 'GET', '/api-keys')).status).toBe(403)
  expect((await call(page, 'POST', '/api-keys', { name: 'own', role: 'support' })).status).toBe(403)
})

besideOthers('a key is made on a phone, in Swahili', async ({ page }) => {
  await page.addInitScript(() => localStorage.setItem('lastmile.language', 'sw'))
  await signIn(page, 'admin', '/api-keys/new')
  await field(page, 'Jina').fill('Simu')
  await page.getByRole('radio', { name: 'Yote ya huduma kwa wateja' }).check()
  await expectNoSideways(page)
  await button(page, 'Ufunguo mpya wa API').click()
  await dialogOf(page).getByText('Huonyeshwa mara moja tu').waitFor()
  await expectNoSideways(page)
  await button(dialogOf(page), 'Nimeunakili').click()
  await page.getByText('Unafanya kazi').first().waitFor()
  await expectNoSideways(page)
  const { body } = await call<{ data: Row[] }>(page, 'GET', '/api-keys')
  const mine = body.data.find((k) => k.name === 'Simu')
  expect(mine?.scopes).toBeNull()
  expect((await call(page, 'DELETE', `/api-keys/${mine?.id}`)).status).toBe(204)
}, phone)
