// Reads of streams and of $all, both ways, with links, and reads that are given up.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import {
  BACKWARDS, binaryEvent, END, FORWARDS, InvalidArgumentError, NO_STREAM, START, StreamNotFoundError, UnknownError,
} from '@eventstore/db-client'
import { all, client, event, events, refused, revisions, stream } from './kit.mjs'

const most = 18446744073709551615n // of the protocol's revisions and counts

describe('a stream', () => {
  const name = stream()
  before(() => client.appendToStream(name, events(10), { expectedRevision: NO_STREAM }))
  const read = async (options) => revisions(await all(client.readStream(name, options))).map(Number)

  test('forwards', async () => {
    assert.deepEqual(await read(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    assert.deepEqual(await read({ direction: FORWARDS, fromRevision: START, maxCount: 3 }), [0, 1, 2])
    assert.deepEqual(await read({ fromRevision: 7n }), [7, 8, 9])
    assert.deepEqual(await read({ fromRevision: 7n, maxCount: 2n }), [7, 8])
    assert.deepEqual(await read({ fromRevision: 7n, maxCount: most }), [7, 8, 9])
    for (const beyond of [10n, 9007199254740993n, 9223372036854775807n, most]) {
      assert.deepEqual(await read({ fromRevision: beyond }), [])
    }
  })

  test('backwards', async () => {
    assert.deepEqual(await read({ direction: BACKWARDS, fromRevision: END, maxCount: 3 }), [9, 8, 7])
    assert.deepEqual(await read({ direction: BACKWARDS, fromRevision: 2n }), [2, 1, 0])
    assert.deepEqual(await read({ direction: BACKWARDS, fromRevision: START }), [0])
    for (const beyond of [10n, 9007199254740993n, 9223372036854775807n, most]) {
      assert.deepEqual(await read({ direction: BACKWARDS, fromRevision: beyond, maxCount: 1 }), [9])
    }
  })

  test('that does not exist', async () => {
    for (const missing of [stream(), stream('straße ✓ 街')]) {
      for (const options of [{}, { direction: BACKWARDS, fromRevision: END }, { fromRevision: 5n }]) {
        const error = await refused(all(client.readStream(missing, options)), StreamNotFoundError)
        assert.equal(error.streamName, missing)
      }
    }
    assert.throws(() => client.readStream(name, { fromRevision: -1n }), InvalidArgumentError) // by the client itself
  })

  test('a read that is given up leaves the connection as it is', async () => {
    const long = stream()
    await client.appendToStream(long, events(2000))
    for (let n = 0; n < 20; n++) {
      const read = client.readStream(long)
      for await (const one of read) {
        if (one.event.revision === BigInt(n)) break
      }
      await read.cancel()
    }
    const fresh = client.readStream(long) // before its first event
    await fresh.cancel()
    assert.equal((await all(client.readStream(long))).length, 2000)
  })
})

describe('$all', () => {
  const name = stream()
  const at = []
  before(async () => {
    for (const one of events(5)) at.push((await client.appendToStream(name, one)).position)
  })
  const positions = (read) => read.map((one) => one.event.position)

  test('forwards, with the event at the position', async () => {
    const read = await all(client.readAll({ fromPosition: at[1], maxCount: 3 }))
    assert.deepEqual(positions(read), at.slice(1, 4))
    assert.deepEqual(read.map((one) => one.commitPosition), at.slice(1, 4).map((one) => one.commit))
  })

  test('backwards, without the event at the position', async () => {
    const read = await all(client.readAll({ fromPosition: at[4], direction: BACKWARDS, maxCount: 3 }))
    assert.deepEqual(positions(read), [at[3], at[2], at[1]])
    const newest = await all(client.readAll({ fromPosition: END, direction: BACKWARDS, maxCount: 1 }))
    assert.deepEqual(positions(newest), [at[4]])
  })

  test('from its ends outwards there is nothing', async () => {
    assert.deepEqual(await all(client.readAll({ fromPosition: START, direction: BACKWARDS })), [])
    assert.deepEqual(await all(client.readAll({ fromPosition: END })), [])
    const [zero, last] = [{ commit: 0n, prepare: 0n }, { commit: most, prepare: most }]
    assert.deepEqual(await all(client.readAll({ fromPosition: zero, direction: BACKWARDS })), [])
    assert.deepEqual(await all(client.readAll({ fromPosition: last })), [])
    const [newest] = await all(client.readAll({ fromPosition: last, direction: BACKWARDS, maxCount: 1 }))
    assert.ok(newest.event.position.commit >= at[4].commit)
    const wrong = { commit: 1n, prepare: 2n }
    await refused(all(client.readAll({ fromPosition: wrong })), UnknownError)
  })

  test('as a whole, both ways', async () => {
    const read = await all(client.readAll())
    const commits = read.map((one) => one.event.position.commit)
    assert.ok(commits.every((one, n) => n === 0 || one > commits[n - 1]), 'positions do not grow')
    assert.deepEqual(read.filter((one) => one.event.streamId === name).map((one) => one.event.position), at)
    assert.equal(read[0].event.streamId, '$users') // by which clients know that a server has started
    const back = await all(client.readAll({ direction: BACKWARDS, fromPosition: END }))
    assert.deepEqual(back.map((one) => one.event.position.commit), commits.toReversed?.() ?? [...commits].reverse())
  })

  test('the event of a tombstone has the greatest revision', async () => {
    const ended = stream()
    const { position } = await client.tombstoneStream(ended)
    const [one] = await all(client.readAll({ fromPosition: position, maxCount: 1 }))
    assert.deepEqual([one.event.streamId, one.event.type], [ended, '$streamDeleted'])
    assert.equal(one.event.revision, 9223372036854775807n)
  })
})

describe('links', () => {
  const [target, links] = [stream(), stream('links')]
  const link = (to) => binaryEvent({ type: '$>', data: Buffer.from(to) })
  before(async () => {
    await client.appendToStream(target, events(2))
    await client.appendToStream(links, [link(`1@${target}`), link(`5@${target}`), event('plain')])
  })

  test('are followed when that is wanted', async () => {
    const [found, broken, plain] = await all(client.readStream(links, { resolveLinkTos: true }))
    assert.deepEqual([found.event.streamId, found.event.revision, found.event.data], [target, 1n, { n: 1 }])
    assert.deepEqual([found.link.streamId, found.link.revision, found.link.type], [links, 0n, '$>'])
    assert.deepEqual([broken.event, broken.link.revision], [undefined, 1n])
    assert.deepEqual([plain.event.type, plain.link], ['plain', undefined])
  })

  test('are events otherwise', async () => {
    const [found] = await all(client.readStream(links))
    assert.deepEqual([found.event.type, Buffer.from(found.event.data).toString()], ['$>', `1@${target}`])
    assert.equal(found.link, undefined)
  })

  test('are followed in $all, too', async () => {
    const [{ event: first }] = await all(client.readStream(links, { maxCount: 1 }))
    const [found] = await all(client.readAll({ fromPosition: first.position, maxCount: 1, resolveLinkTos: true }))
    assert.deepEqual([found.event.streamId, found.commitPosition], [target, first.position.commit])
  })
})
