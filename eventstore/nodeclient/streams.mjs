// Deletes, tombstones, and metadata with what it hides.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  AccessDeniedError, ANY, BACKWARDS, END, NO_STREAM, STREAM_EXISTS, StreamDeletedError, StreamNotFoundError,
  UnknownError, USER_STREAM_ACL, WrongExpectedVersionError,
} from '@eventstore/db-client'
import { all, client, event, events, refused, revisions, stream, Watch } from './kit.mjs'

/** A stream with so many events. */
async function filled(count) {
  const name = stream()
  await client.appendToStream(name, events(count), { expectedRevision: NO_STREAM })
  return name
}

const visible = async (name, options) => revisions(await all(client.readStream(name, options))).map(Number)

describe('a delete', () => {
  test('hides the events, and the numbers go on', async () => {
    const name = await filled(2)
    const { position } = await client.deleteStream(name, { expectedRevision: 1n })
    assert.ok(position.commit > 0n)
    await refused(visible(name), StreamNotFoundError)
    await client.deleteStream(name)
    const gone = client.appendToStream(name, event(), { expectedRevision: STREAM_EXISTS })
    assert.equal((await refused(gone, StreamDeletedError)).streamName, name)
    const back = await client.appendToStream(name, event(), { expectedRevision: NO_STREAM })
    assert.equal(back.nextExpectedRevision, 2n)
    assert.deepEqual(await visible(name), [2])
    assert.equal((await client.getStreamMetadata(name)).metadata.truncateBefore, 2)
  })

  test('at a wrong revision', async () => {
    const name = await filled(2)
    for (const [expected, told] of [[0n, 0n], [7n, 7n], [NO_STREAM, -1n]]) {
      const error = await refused(client.deleteStream(name, { expectedRevision: expected }), WrongExpectedVersionError)
      assert.deepEqual([error.streamName, error.expectedVersion, error.actualVersion], [name, told, 1n])
    }
    const missing = await refused(client.deleteStream(stream()), WrongExpectedVersionError)
    assert.deepEqual([missing.expectedVersion, missing.actualVersion], [-2n, -1n])
    await refused(client.deleteStream('$all'), AccessDeniedError)
    assert.deepEqual(await visible(name), [0, 1])
  })
})

describe('a tombstone', () => {
  test('ends a stream for ever', async () => {
    const name = await filled(1)
    const { position } = await client.tombstoneStream(name, { expectedRevision: 0n })
    assert.ok(position.commit > 0n)
    for (const call of [
      () => visible(name), () => visible(name, { direction: BACKWARDS, fromRevision: END }),
      () => client.appendToStream(name, event(), { expectedRevision: NO_STREAM }),
      () => client.deleteStream(name), () => client.tombstoneStream(name),
      () => new Watch(client.subscribeToStream(name)).until('end', () => false),
    ]) {
      assert.equal((await refused(call(), StreamDeletedError)).streamName, name)
    }
  })

  test('of a stream that never was, and at a wrong revision', async () => {
    const [never, name] = [stream('straße'), await filled(1)]
    await client.tombstoneStream(never, { expectedRevision: NO_STREAM })
    await refused(visible(never), StreamDeletedError)
    const error = await refused(client.tombstoneStream(name, { expectedRevision: 3n }), WrongExpectedVersionError)
    assert.deepEqual([error.streamName, error.expectedVersion, error.actualVersion], [name, 3n, 0n])
  })
})

describe('metadata', () => {
  test('is read back, the newest of it', async () => {
    const name = await filled(1)
    assert.deepEqual(await client.getStreamMetadata(name), { streamName: name })
    await client.setStreamMetadata(name, { maxCount: 7 }, { expectedRevision: NO_STREAM })
    const whole = {
      maxCount: 5, maxAge: 3600, truncateBefore: 0, cacheControl: 60, colour: 'blue', list: [1, { deep: true }],
      acl: { readRoles: ['one', 'two'], writeRoles: ['$admins'], deleteRoles: [], metaReadRoles: ['$all'] },
    }
    const set = await client.setStreamMetadata(name, whole, { expectedRevision: 0n })
    assert.equal(set.nextExpectedRevision, 1n)
    assert.deepEqual((await client.getStreamMetadata(name)).metadata, whole)
    await client.setStreamMetadata(name, { acl: USER_STREAM_ACL })
    assert.deepEqual((await client.getStreamMetadata(name)).metadata, { acl: USER_STREAM_ACL })
    assert.deepEqual(await visible(`$$${name}`), [2])
    const late = client.setStreamMetadata(name, whole, { expectedRevision: 0n })
    assert.equal((await refused(late, WrongExpectedVersionError)).actualVersion, 2n)
  })

  test('alone makes no stream, and outlives none', async () => {
    const name = stream()
    await client.setStreamMetadata(name, { maxCount: 3 })
    await refused(visible(name), StreamNotFoundError)
    await client.appendToStream(name, event(), { expectedRevision: STREAM_EXISTS })
    await refused(client.deleteStream(`$$${name}`), UnknownError)
    await client.tombstoneStream(name)
    await refused(client.setStreamMetadata(name, { maxCount: 3 }), StreamDeletedError)
  })

  test('has access lists, which keep nobody out: the node has one user, who may do everything', async () => {
    const name = await filled(1)
    const list = ['somebody']
    await client.setStreamMetadata(name, {
      acl: { readRoles: list, writeRoles: list, deleteRoles: list, metaReadRoles: list, metaWriteRoles: list },
    })
    await client.appendToStream(name, event(), { expectedRevision: 0n })
    assert.deepEqual(await visible(name), [0, 1])
    await client.setStreamMetadata(name, {})
    await client.deleteStream(name)
  })

  test('hides by count', async () => {
    const name = await filled(5)
    await client.setStreamMetadata(name, { maxCount: 2 })
    assert.deepEqual(await visible(name), [3, 4])
    assert.deepEqual(await visible(name, { direction: BACKWARDS, fromRevision: END }), [4, 3])
    await client.appendToStream(name, event(), { expectedRevision: 4n })
    assert.deepEqual(await visible(name), [4, 5])
    const watch = new Watch(client.subscribeToStream(name))
    await watch.isLive()
    await client.appendToStream(name, event())
    assert.deepEqual(revisions(await watch.first(3)), [4n, 5n, 6n])
    await watch.subscription.unsubscribe()
  })

  test('hides by revision', async () => {
    const name = await filled(5)
    await client.setStreamMetadata(name, { truncateBefore: 3 })
    assert.deepEqual(await visible(name), [3, 4])
    assert.deepEqual(await visible(name, { fromRevision: 1n, maxCount: 1 }), [3])
    await client.setStreamMetadata(name, { truncateBefore: 9 })
    assert.deepEqual(await visible(name), []) // nothing to see, but not missing
    await client.appendToStream(name, event(), { expectedRevision: 4n })
  })

  test('hides by age', async () => {
    const name = await filled(2)
    await client.setStreamMetadata(name, { maxAge: 3600 })
    assert.deepEqual(await visible(name), [0, 1])
    await client.setStreamMetadata(name, { maxAge: 1 })
    while ((await visible(name)).length > 0) await new Promise((next) => setTimeout(next, 100))
    await client.appendToStream(name, event(), { expectedRevision: ANY })
    await client.setStreamMetadata(name, {})
    assert.deepEqual(await visible(name), [0, 1, 2])
  })
})
