import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { besideOthers, follow, phone, type Role, sideways, signIn } from './kit'
import { pathOf, screens } from './screens'

// The words of every state that rows have, in turn, and amounts of business customers: the demo has not all of them.
const states: Record<string, Record<string, readonly string[]>> = {
  '/api-keys': { state: ['active', 'expired', 'revoked', 'stopped'] },
  '/cpe/firmware': { state: ['uploading', 'stored', 'removing'] },
  '/cpe/firmware/campaigns': { state: ['running', 'stopped', 'halted', 'finished'] },
  '/cpe/provisions': { state: ['waiting', 'installed', 'refused', 'removing'] },
  '/dunning': { state: ['none', 'reminding', 'walled_garden', 'suspended', 'written_off'] },
  '/invoices': { state: ['draft', 'issued', 'partially_paid', 'paid', 'credited', 'written_off', 'voided'] },
  '/messages': { state: ['queued', 'sending', 'sent', 'failed', 'dropped'] },
  '/payments': { status: ['PENDING', 'SUCCESS', 'CANCELLED', 'FAILED'] },
  '/receipts': { state: ['recorded', 'matched', 'allocated', 'suspense', 'attributed', 'absorbed', 'reversed', 'refunded'] },
  '/subscribers': { status: ['active', 'blocked', 'forgotten'], access: ['full', 'throttled', 'walled_garden', 'none'] },
  '/users': { status: ['invited', 'active', 'disabled'] },
  '/webhook-deliveries': { state: ['pending', 'delivered', 'failed'] },
  '/webhook-endpoints': { state: ['enabled', 'disabled'] },
  '/vouchers': { state: ['unused', 'active', 'used', 'void'] },
}
const amounts = ['amount', 'due', 'total', 'balance']

/** withEveryState has each list show all of its states, and large amounts; the answers are changed in the page. */
const withEveryState = (page: Page) => page.addInitScript(([states, amounts]) => {
  const asked = window.fetch
  window.fetch = async (...call) => {
    const answer = await asked(...call)
    const url = new URL(call[0] instanceof Request ? call[0].url : String(call[0]), location.href)
    if (url.pathname.startsWith('/app') || !answer.ok) return answer
    const json = (await answer.clone().json().catch(() => null)) as { data?: unknown } | null
    if (!json || !Array.isArray(json.data)) return answer
    const data = (json.data as Record<string, unknown>[]).map((row, i) => {
      const changed = { ...row }
      for (const [name, words] of Object.entries(states[url.pathname] ?? {})) changed[name] = words[i % words.length]
      for (const name of amounts) {
        if (typeof row[name] === 'number' && i % 2 === 0) changed[name] = row[name] < 0 ? -125_000.5 : 1_250_000
      }
      return changed
    })
    return new Response(JSON.stringify({ ...json, data }), { status: answer.status, headers: answer.headers })
  }
}, [states, amounts] as const)

/** cutWords lists the states, amounts and times of which a word is not wholly seen. */
const cutWords = (page: Page) => page.locator('main :is(.state, .figure, time)').evaluateAll((all) => {
  const placeOf = (e: Element) => {
    const { overflowX, overflowY, paddingLeft, paddingRight } = getComputedStyle(e)
    if (overflowX === 'visible') return null
    const box = e.getBoundingClientRect()
    const scrolls = overflowY === 'auto' || overflowY === 'scroll'
    // An ellipsis begins where the padding does. Letters have some room below and above them.
    return {
      left: box.left + parseFloat(paddingLeft) - 1, right: box.right - parseFloat(paddingRight) + 1,
      top: scrolls ? -Infinity : box.top - 3, bottom: scrolls ? Infinity : box.bottom + 3,
    }
  }
  const isCut = (word: DOMRect, from: Element) => {
    for (let e: Element | null = from; e && e.tagName !== 'MAIN'; e = e.parentElement) {
      const place = placeOf(e)
      if (place && (word.left < place.left || word.right > place.right || word.top < place.top || word.bottom > place.bottom)) return true
    }
    return false
  }
  const cut = new Set<string>()
  for (const e of all) {
    const texts = document.createTreeWalker(e, NodeFilter.SHOW_TEXT)
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      for (const word of (text.textContent ?? '').matchAll(/\S+/g)) {
        const range = document.createRange()
        range.setStart(text, word.index)
        range.setEnd(text, word.index + word[0].length)
        const box = range.getBoundingClientRect()
        if (box.width > 0 && text.parentElement && isCut(box, text.parentElement)) cut.add(e.textContent ?? '')
      }
    }
  }
  return [...cut]
})

/** faultsOf finds what is not wholly seen of a page, and what has to be moved sideways to be seen. */
async function faultsOf(page: Page) {
  const cut = (await cutWords(page)).map((text) => `cut: ${text}`)
  const wide = await sideways(page)
  const frames = await page.locator('.rows-frame').evaluateAll((all) => all.filter((e) => e.scrollWidth > e.clientWidth + 1).length)
  return [...cut, ...(wide > 0 ? [`${wide} pixels wider than the window`] : []), ...(frames > 0 ? ['a list moves sideways'] : [])]
}

for (const [width, window] of [['on a phone', phone], ['on a laptop', {}]] as const) {
  for (const language of ['en', 'sw'] as const) {
    besideOthers(`no state, amount or time is cut ${width}: ${language}`, async ({ page }) => {
      await page.addInitScript((l) => localStorage.setItem('lastmile.language', l), language)
      await withEveryState(page)
      const faults: string[] = []
      for (const role of ['admin', 'root'] satisfies Role[]) {
        await signIn(page, role)
        for (const screen of screens.filter((s) => s.role === role && !s.name.endsWith('-new'))) {
          await follow(page, role, await pathOf(screen, page))
          faults.push(...(await faultsOf(page)).map((fault) => `${screen.name}, ${fault}`))
        }
      }
      expect(faults).toEqual([])
    }, window)
  }
}

/** withLongNames has all that people have typed be as long as it can be, without a gap to break it at. */
const withLongNames = (page: Page) => page.addInitScript(() => {
  const typed = [
    'name', 'firstName', 'lastName', 'orgName', 'planName', 'deviceName', 'serviceName', 'username', 'address', 'notes', 'note',
    'reason', 'description', 'remark', 'batch', 'label', 'email', 'message', 'words', 'error', 'lastError',
  ]
  const long = (value: unknown, key = ''): unknown => {
    if (typeof value === 'string') return typed.includes(key) ? `${value}${'\u0645W'.repeat(250)}` : value
    if (Array.isArray(value)) return value.map((each) => long(each, key))
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, long(v, k)]))
  }
  const asked = window.fetch
  window.fetch = async (...call) => {
    const answer = await asked(...call)
    const url = new URL(call[0] instanceof Request ? call[0].url : String(call[0]), location.href)
    const json = url.pathname.startsWith('/app') || url.pathname.startsWith('/auth') ? null : await answer.clone().json().catch(() => null)
    return json === null ? answer : new Response(JSON.stringify(long(json)), { status: answer.status, headers: answer.headers })
  }
})

for (const [width, window] of [['on a phone', phone], ['on a laptop', {}]] as const) {
  besideOthers(`names of 500 letters without a gap make no page wider than its window ${width}`, async ({ page }) => {
    await withLongNames(page)
    const faults: string[] = []
    for (const role of ['admin', 'root'] satisfies Role[]) {
      await signIn(page, role)
      for (const screen of screens.filter((s) => s.role === role)) {
        const path = await pathOf(screen, page)
        for (const view of screen.name === 'customer' ? ['', '?view=timeline'] : ['']) {
          await follow(page, role, `${path}${view}`)
          const wide = await sideways(page)
          if (wide > 0) faults.push(`${screen.name}${view}: ${wide} pixels wider than the window`)
        }
      }
    }
    expect(faults).toEqual([])
  }, window)
}
