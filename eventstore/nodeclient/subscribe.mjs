// Subscriptions to streams and to $all: history, word that it has been read, and then what is appended.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { binaryEvent, END, NO_STREAM, START, StreamDeletedError } from '@eventstore/db-client'
import { all, client, event, events, revisions, stream, Watch } from './kit.mjs'

/** A subscription to a stream, watched. */
const follow = (name, options) => new Watch(client.subscribeToStream(name, options))

/** A subscription to $all, watched. */
const followAll = (options) => new Watch(client.subscribeToAll(options))

describe('a subscription to a stream', () => {
  test('gives history, tells when it has caught up, and goes on', async () => {
    const name = stream()
    await client.appendToStream(name, events(600))
    const watch = follow(name)
    await watch.isLive()
    assert.match(watch.subscription.id, /^[0-9a-f]{8}-[0-9a-f]{4}-/)
    const { position } = await client.appendToStream(name, event('live'))
    const got = await watch.first(601)
    assert.deepEqual(revisions(got), got.map((_, n) => BigInt(n)))
    assert.deepEqual([got[600].event.type, got[600].event.position], ['live', position])
    await watch.subscription.unsubscribe()
  })

  test('begins after a revision, or at the end', async () => {
    const name = stream()
    await client.appendToStream(name, events(5))
    const watches = [2n, END, 18446744073709551615n, 9007199254740993n]
      .map((from) => follow(name, { fromRevision: from }))
    for (const one of watches) await one.isLive()
    await client.appendToStream(name, event())
    const [after, atEnd, greatest, far] = watches
    assert.deepEqual(revisions(await after.first(3)), [3n, 4n, 5n])
    assert.deepEqual(revisions(await atEnd.first(1)), [5n])
    assert.deepEqual(revisions(await greatest.first(1)), [5n]) // the protocol's other word for the end
    assert.deepEqual(far.events, [])
    for (const one of watches) await one.subscription.unsubscribe()
  })

  test('waits for a stream that is not there yet', async () => {
    const name = stream()
    const watch = follow(name)
    await watch.isLive()
    await client.appendToStream(name, events(3), { expectedRevision: NO_STREAM })
    assert.deepEqual(revisions(await watch.first(3)), [0n, 1n, 2n])
    await watch.subscription.unsubscribe()
  })

  test('follows links', async () => {
    const [target, links] = [stream(), stream('links')]
    await client.appendToStream(target, events(2))
    const link = (to) => binaryEvent({ type: '$>', data: Buffer.from(to) })
    await client.appendToStream(links, link(`0@${target}`))
    const watch = follow(links, { resolveLinkTos: true })
    await watch.isLive()
    await client.appendToStream(links, [link(`1@${target}`), link('3@nowhere')])
    const got = await watch.first(3)
    assert.deepEqual(got.map((one) => one.event?.revision), [0n, 1n, undefined])
    assert.deepEqual(got.map((one) => one.link.revision), [0n, 1n, 2n])
    await watch.subscription.unsubscribe()
  })

  test('goes on after a delete, and ends with a tombstone', async () => {
    const name = stream()
    await client.appendToStream(name, event())
    const watch = follow(name)
    await watch.isLive()
    await client.deleteStream(name)
    await client.appendToStream(name, event())
    assert.deepEqual(revisions(await watch.first(2)), [0n, 1n])
    await client.tombstoneStream(name)
    assert.equal((await watch.ends(StreamDeletedError)).streamName, name)
  })

  test('brings nothing more after it was given up', async () => {
    const name = stream()
    const [given, kept] = [follow(name), follow(name)]
    await given.isLive()
    await kept.isLive()
    await given.subscription.unsubscribe()
    await client.appendToStream(name, events(3))
    await kept.first(3)
    assert.deepEqual([given.events, given.error], [[], undefined])
    await kept.subscription.unsubscribe()
  })

  test('that nobody reads holds up neither writers nor others', async () => {
    const [name, many] = [stream(), 3000]
    const slow = client.subscribeToStream(name, {}, { highWaterMark: 1 })
    const quick = follow(name)
    await quick.isLive()
    const filler = 'x'.repeat(2000)
    for (let n = 0; n < many; n += 100) {
      await client.appendToStream(name, Array.from({ length: 100 }, (_, i) => event('filler', { n: n + i, filler })))
    }
    await quick.first(many)
    const got = await new Watch(slow).first(many)
    assert.deepEqual(got.map((one) => one.event.data.n), got.map((_, n) => n))
    await slow.unsubscribe()
    await quick.subscription.unsubscribe()
  })

  test('many at the same time', async () => {
    const names = Array.from({ length: 60 }, () => stream())
    const watches = names.map((name) => follow(name))
    await Promise.all(watches.map((one) => one.isLive()))
    await Promise.all(names.map((name) => client.appendToStream(name, events(5))))
    await Promise.all(watches.map((one) => one.first(5)))
    watches.forEach((one, n) => assert.ok(one.events.every((e) => e.event.streamId === names[n])))
    await Promise.all(watches.map((one) => one.subscription.unsubscribe()))
  })
})

describe('a subscription to $all', () => {
  test('from the start gives all, in order', async () => {
    const before = await all(client.readAll())
    const watch = followAll({ fromPosition: START })
    await watch.isLive()
    const { position } = await client.appendToStream(stream(), event())
    const got = await watch.first(before.length + 1)
    assert.deepEqual(got.slice(0, before.length).map((one) => one.event.id), before.map((one) => one.event.id))
    assert.deepEqual(got.at(-1).event.position, position)
    await watch.subscription.unsubscribe()
  })

  test('begins after a position, or at the end', async () => {
    const { position } = await client.appendToStream(stream(), event('first'))
    await client.appendToStream(stream(), event('second'))
    const greatest = 18446744073709551615n
    const watches = [position, END, { commit: greatest, prepare: greatest }]
      .map((from) => followAll({ fromPosition: from }))
    for (const one of watches) await one.isLive()
    await client.appendToStream(stream(), event('third'))
    const [after, ...atEnd] = watches
    assert.deepEqual((await after.first(2)).map((one) => one.event.type), ['second', 'third'])
    for (const one of atEnd) assert.deepEqual((await one.first(1)).map((got) => got.event.type), ['third'])
    for (const one of watches) await one.subscription.unsubscribe()
  })
})
