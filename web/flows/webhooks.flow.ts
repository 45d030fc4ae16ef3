import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { button, confirms, dialogOf, field, inMenu, told } from './hands'
import { call, expectNoSideways, expectNoViolations, flow, goTo, phone, signIn, unpaid } from './kit'

/** receiver is a system of the organization's own: it answers with a status, and keeps the messages that came. */
async function receiver() {
  const got: { id: string; signatures: string[]; body: string }[] = []
  const own = { status: 200, got, url: '' }
  const server = createServer((request, answer) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => {
      const signature = String(request.headers['webhook-signature'])
      got.push({ id: String(request.headers['webhook-id']), signatures: signature.split(' '), body })
      answer.writeHead(own.status).end()
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => new Promise<void>((closed) => {
    server.closeAllConnections()
    server.close(() => closed())
  }))
  own.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
  return own
}

flow('an address is registered, tried, told of an invoice, paused and deleted', async ({ page }) => {
  const system = await receiver()
  await signIn(page, 'admin', '/webhooks')
  await button(page, 'Register an address').click()
  const dialog = dialogOf(page)
  await dialog.getByRole('textbox', { name: 'Address' }).fill('ftp://nowhere')
  for (const type of await dialog.getByRole('checkbox').all()) await type.uncheck()
  await dialog.getByText('Choose one at least.').waitFor()
  await dialog.getByRole('checkbox', { name: 'Invoice issued' }).check()
  await expectNoViolations(page, 'the form of an address')
  await button(dialog, 'Register an address').click()
  await dialog.getByText(/http or https address|anwani/).first().waitFor()
  await dialog.getByRole('textbox', { name: 'Address' }).fill(system.url)
  await field(dialog, 'Description').fill('Accounting')
  await button(dialog, 'Register an address').click()
  await dialog.getByText('This is shown once').waitFor()
  const secret = (await dialog.locator('.copy').innerText()).trim()
  expect(secret).toMatch(/^whsec_/)
  await button(dialog, 'I have copied it').click()
  await page.getByRole('heading', { level: 1, name: 'Accounting' }).waitFor()
  expect(await page.content()).not.toContain(secret)

  await button(page, 'Send a trial').click()
  await page.getByText(/The trial has arrived: 200 after/).waitFor()
  system.status = 503
  await button(page, 'Send a trial').click()
  await page.getByText(/The trial has failed: The receiver answered, but not with a success \(2xx\)\. 503/).waitFor()
  await expectNoViolations(page, 'the page of an address')

  await unpaid(page, `Pokea${Date.now()}`)
  const row = page.getByRole('row').filter({ hasText: 'Invoice issued' })
  await row.getByText('Under way').waitFor()
  await row.getByText('503').waitFor()
  await page.getByRole('combobox', { name: 'State' }).selectOption('pending')
  await expect.poll(() => page.url()).toContain('state=pending')
  await expect.poll(() => page.getByRole('row').filter({ hasText: 'Trial' }).count()).toBe(0)
  const number = await row.getByRole('link', { name: /^DEMO-/ }).innerText()
  await row.getByRole('link', { name: 'Invoice issued' }).click()
  await page.getByRole('heading', { level: 1, name: 'Invoice issued' }).waitFor()
  await page.getByText('The receiver answered, but not with a success (2xx).').first().waitFor()
  await page.getByLabel('What is sent').getByText(`"number": "${number}"`).waitFor()
  await expectNoViolations(page, 'the page of a delivery')
  await page.getByRole('link', { name: number }).click()
  await page.getByRole('heading', { level: 1 }).filter({ hasText: number }).waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'Deliveries' }).click()

  // A trial is sent once, so it has failed and can be sent again.
  system.status = 200
  await page.getByRole('combobox', { name: 'State' }).selectOption('failed')
  await page.getByRole('row').filter({ hasText: 'Trial' }).filter({ hasText: 'Failed' }).getByRole('link', { name: 'Trial' }).click()
  const sent = system.got.length
  await button(page, 'Deliver once more').click()
  await told(page, 'The message is on its way again, under the same id.')
  await page.getByText('Delivered', { exact: true }).waitFor()
  expect(system.got[sent]?.id).toBe(system.got[1]?.id)

  await page.getByRole('link', { name: 'Deliveries' }).click()
  await inMenu(page, button(page, 'More'), 'Replace the secret')
  await button(dialog, 'Replace the secret').click()
  await dialog.getByText(/messages are signed with the former secret, too/).waitFor()
  expect((await dialog.locator('.copy').innerText()).trim()).not.toBe(secret)
  await button(dialog, 'I have copied it').click()
  await page.getByText('Former secret signs until').waitFor()
  await expect.poll(async () => {
    await button(page, 'Send a trial').click()
    await page.getByText(/The trial has arrived/).waitFor()
    return system.got.at(-1)?.signatures.length
  }).toBe(2)

  await button(page, 'Pause').click()
  await confirms(page, 'Pause')
  await told(page, 'The address is told of nothing until somebody enables it.')
  await button(page, 'Enable').click()
  await confirms(page, 'Enable')
  await told(page, 'The address is told from now on.')
  await inMenu(page, button(page, 'More'), 'Change')
  await field(dialog, 'Description').fill('Books')
  await dialog.getByRole('checkbox', { name: 'Payment succeeded' }).check()
  await button(dialog, 'Change').click()
  await page.getByRole('heading', { level: 1, name: 'Books' }).waitFor()
  await inMenu(page, button(page, 'More'), 'Delete')
  await field(dialog, /^Type .* to confirm/).fill(new URL(system.url).host)
  await confirms(page, 'Delete')
  await told(page, 'The address is deleted.')
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
  await expect.poll(() => page.getByText(system.url).count()).toBe(0)
})

flow('Home leads to an address that the program has disabled, which says why and what to do', async ({ page }) => {
  const system = await receiver()
  await signIn(page, 'admin')
  const made = await call<{ id: string }>(page, 'POST', '/webhook-endpoints', { url: system.url, types: ['invoice.created'] })
  const { id } = made.body
  // Three days of failures are made in the page: the clock of the demo stays where it is.
  const since = new Date(Date.now() - 3 * 86_400_000).toISOString()
  await page.addInitScript(([id, url, since]) => {
    const asked = window.fetch
    window.fetch = async (...call) => {
      const answer = await asked(...call)
      const { pathname } = new URL(call[0] instanceof Request ? call[0].url : String(call[0]), location.href)
      const other = pathname === '/reports/today' ? {
        faults: [{ kind: 'webhook_disabled', root: { type: 'webhook', id, name: url }, since, effects: [], customers: 0, message: 'disabled', words: null }],
      } : pathname === `/webhook-endpoints/${id}` ? { state: 'disabled', disabledReason: 'failing', failingSince: since } : null
      if (!other || answer.status !== 200) return answer
      return new Response(JSON.stringify({ ...(await answer.json() as object), ...other }), { status: answer.status, headers: answer.headers })
    }
  }, [id, system.url, since] as const)
  await goTo(page, 'admin', '/')
  await page.getByRole('link', { name: 'Enable it again' }).click()
  await page.getByText('Disabled, because nothing could be delivered for days').waitFor()
  await page.getByText(/Nothing has been delivered since/).waitFor()
  await page.getByText(/mend the receiver, send a trial, then enable the address again/).waitFor()
  await expectNoViolations(page, 'an address that is disabled')
  await button(page, 'Enable').waitFor()
  expect((await call(page, 'DELETE', `/webhook-endpoints/${id}`)).status).toBe(204)
})

flow('the pages of webhooks fit a phone, and support sees none of them', async ({ page }) => {
  const system = await receiver()
  await signIn(page, 'admin')
  const { body } = await call<{ id: string }>(page, 'POST', '/webhook-endpoints', { url: `${system.url}/${'x'.repeat(300)}`, types: ['invoice.created'] })
  const ping = await call<{ id: string }>(page, 'POST', `/webhook-endpoints/${body.id}/ping`)
  const paths = ['/webhooks', `/webhooks/${body.id}`, `/webhooks/deliveries/${ping.body.id}`]
  for (const path of paths) {
    await goTo(page, 'admin', path)
    await expectNoSideways(page, path)
    await expectNoViolations(page, path)
  }
  await signIn(page, 'support')
  for (const path of paths) {
    await goTo(page, 'support', path)
    await page.getByRole('heading', { level: 1, name: 'Your role does not show this page' }).waitFor()
  }
  expect((await call(page, 'GET', '/webhook-endpoints')).status).toBe(403)
  expect((await call(page, 'GET', `/webhook-deliveries/${ping.body.id}`)).status).toBe(403)
  await signIn(page, 'admin')
  expect((await call(page, 'DELETE', `/webhook-endpoints/${body.id}`)).status).toBe(204)
}, phone)
