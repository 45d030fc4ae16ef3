// What the tests share: the nodes, names that no other test uses, and waiting for what a node sends.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { after } from 'node:test'
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'

/** How long a test waits for what should come at once, in milliseconds. Only a fault reaches it. */
const patience = 60_000

/** The variable of the environment, which has to be set. */
function variable(name) {
  const value = process.env[name]
  assert.ok(value, `${name} is not set: the Go test TestEventStore_TheNodeClientIsServed starts this program`)
  return value
}

/** Connection string of the node without TLS and password, and its host and port. */
export const plainURL = variable('PLAIN_NODE')
export const plainHost = new URL(plainURL.replace('esdb:', 'http:')).host

/** Host and port, certificate, and credentials of the node with TLS and a password. */
export const guardedHost = variable('GUARDED_NODE')
export const guardedCA = variable('GUARDED_CA')
export const credentials = { username: variable('GUARDED_USERNAME'), password: variable('GUARDED_PASSWORD') }

/** A client, which is closed after all tests. */
export function connect(url) {
  const client = EventStoreDBClient.connectionString(url)
  after(() => client.dispose())
  return client
}

/** A client of the node with a password, with the credentials in front of an address, "" = none. */
export const guarded = (user = '') =>
  connect(`esdb://${user}${guardedHost}?tls=true&tlsCAFile=${encodeURIComponent(guardedCA)}`)

/** The client of most tests, of the node without a password. */
export const client = connect(plainURL)

/** Has the node stopped and started again on its log and its address. */
export async function restart() {
  const answer = await fetch(variable('RESTART_NODE'), { method: 'POST' })
  assert.equal(answer.status, 200)
}

/** The name of a new stream. */
export const stream = (category = 'node') => `${category}-${randomUUID()}`

/** A JSON event; of a new id, unless one is given. */
export const event = (type = 'tried', data = { n: 1 }, more = {}) => jsonEvent({ type, data, ...more })

/** So many events, which are numbered from 0. */
export const events = (count, type = 'tried') => Array.from({ length: count }, (_, n) => event(type, { n }))

/** All that a read gives. */
export async function all(read) {
  const out = []
  for await (const one of read) out.push(one)
  return out
}

/** Revisions of what was read, those of links where there are any. */
export const revisions = (read) => read.map((one) => (one.link ?? one.event).revision)

/** The error with which the promise is refused; it must be of the kind. */
export async function refused(promise, kind) {
  try {
    await promise
  } catch (error) {
    assert.ok(error instanceof kind, `refused by ${error?.constructor?.name}, not ${kind.name}: ${error?.stack}`)
    return error
  }
  assert.fail(`not refused by ${kind.name}`)
}

/** The value of the first try that is not refused by a kind of error. */
export async function eventually(kind, act) {
  for (const end = Date.now() + patience; ; await new Promise((next) => setTimeout(next, 50))) {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof kind) || Date.now() > end) throw error
    }
  }
}

/** What a subscription has brought so far. */
export class Watch {
  events = []
  caughtUp = 0
  error = undefined
  #changed = new EventEmitter()

  constructor(subscription) {
    this.subscription = subscription
    const tell = () => this.#changed.emit('changed')
    subscription.on('confirmation', tell)
    subscription.on('caughtUp', () => {
      this.caughtUp++
      tell()
    })
    subscription.on('error', (error) => {
      this.error = error
      tell()
    })
    subscription.on('data', (one) => {
      this.events.push(one)
      tell()
    })
  }

  /** Waits until the check gives true; an error of the subscription ends it, unless the check looks for one. */
  async until(what, check) {
    const late = AbortSignal.timeout(patience)
    while (!check(this)) {
      if (this.error) throw this.error
      try {
        await once(this.#changed, 'changed', { signal: late })
      } catch {
        assert.fail(`no ${what}; ${this.events.length} events, ${this.caughtUp} times caught up`)
      }
    }
  }

  /** Waits until so many events are here, and gives them. */
  async first(count) {
    await this.until(`${count} events`, () => this.events.length >= count)
    return this.events
  }

  /** Waits until the subscription has told that it is up to date. */
  isLive() {
    return this.until('word that it has caught up', () => this.caughtUp > 0)
  }

  /** Waits for the error that ends the subscription, which must be of the kind. */
  async ends(kind) {
    await this.until(kind.name, () => this.error)
    assert.ok(this.error instanceof kind, `ended by ${this.error.stack}`)
    return this.error
  }
}
