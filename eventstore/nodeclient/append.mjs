// Appends: expected revisions, repeats, and the order of what one client sends. The client sends all over one call
// (BatchAppend), except appends with credentials of their own, which take a call each (Append).
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import {
  AccessDeniedError, ANY, binaryEvent, NO_STREAM, STREAM_EXISTS, StreamDeletedError, UnknownError,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import {
  all, client, connect, credentials, event, events, guarded, plainURL, refused, revisions, stream,
} from './kit.mjs'

for (const [call, to, how] of [['BatchAppend', client, {}], ['Append', guarded(), { credentials }]]) {
  const append = (name, what, expectedRevision) => to.appendToStream(name, what, { expectedRevision, ...how })
  const read = (name) => all(to.readStream(name, how))

  describe(call, () => {
    test('each expected revision', async () => {
      const name = stream()
      const first = await append(name, event(), NO_STREAM)
      assert.equal(first.success, true)
      assert.equal(first.nextExpectedRevision, 0n)
      assert.ok(first.position.commit > 0n)
      assert.equal(first.position.commit, first.position.prepare)
      assert.equal((await append(name, events(2), 0n)).nextExpectedRevision, 2n)
      assert.equal((await append(name, event(), STREAM_EXISTS)).nextExpectedRevision, 3n)
      const last = await append(name, event(), ANY)
      assert.equal(last.nextExpectedRevision, 4n)
      const stored = await read(name)
      assert.deepEqual(revisions(stored), [0n, 1n, 2n, 3n, 4n])
      assert.deepEqual(stored[4].event.position, last.position)
    })

    test('a wrong expected revision', async () => {
      const name = stream()
      for (const expected of [STREAM_EXISTS, 0n, 7n]) {
        const error = await refused(append(name, event(), expected), WrongExpectedVersionError)
        assert.deepEqual([error.streamName, error.expectedVersion, error.actualVersion], [name, expected, NO_STREAM])
      }
      await append(name, events(2), NO_STREAM)
      for (const expected of [NO_STREAM, 0n, 2n, 9007199254740993n, 9223372036854775806n]) {
        const error = await refused(append(name, event(), expected), WrongExpectedVersionError)
        assert.deepEqual([error.streamName, error.expectedVersion, error.actualVersion], [name, expected, 1n])
      }
      assert.equal((await read(name)).length, 2)
    })

    test('a repeat writes nothing and is answered as before', async () => {
      for (const expected of [NO_STREAM, ANY]) {
        const [name, what] = [stream(), events(3)]
        const before = await append(name, what, expected)
        assert.deepEqual(await append(name, what, expected), before)
        await append(name, event(), 2n)
        assert.deepEqual(await append(name, what, expected), before)
        await refused(append(name, [what[0], event()], expected), WrongExpectedVersionError)
        assert.equal((await read(name)).length, 4)
      }
      const [name, what] = [stream(), events(2)]
      await append(name, events(2), NO_STREAM)
      const before = await append(name, what, 1n)
      assert.deepEqual(await append(name, what, 1n), before)
    })

    test('what is stored is what was sent', async () => {
      const name = stream('straße ✓ 街')
      const [id, bytes] = [randomUUID(), Uint8Array.from([0, 1, 127, 128, 255])]
      const began = Date.now()
      await append(name, [
        event('größe.v1', { text: 'ä€𝄞', deep: { list: [1, null, true] } }, { id, metadata: { by: 'ö' } }),
        binaryEvent({ type: 'bytes', data: bytes, metadata: bytes }),
        event('none'),
      ], NO_STREAM)
      const [json, binary, none] = (await read(name)).map((one) => one.event)
      assert.deepEqual([json.streamId, json.id, json.type], [name, id, 'größe.v1'])
      assert.deepEqual([json.data, json.metadata], [{ text: 'ä€𝄞', deep: { list: [1, null, true] } }, { by: 'ö' }])
      assert.deepEqual([json.isJson, binary.isJson], [true, false])
      assert.deepEqual([[...binary.data], [...binary.metadata]], [[...bytes], [...bytes]])
      assert.equal(none.metadata, undefined)
      assert.ok(Math.abs(json.created - began) < 600_000, `created ${json.created}`)
    })

    test('nothing is appended by no events', async () => {
      const name = stream()
      await append(name, event(), NO_STREAM)
      assert.equal((await append(name, [], 0n)).nextExpectedRevision, 0n)
      assert.equal((await read(name)).length, 1)
    })

    test('what cannot be stored', async () => {
      await refused(append('$all', event(), ANY), AccessDeniedError)
      await refused(append('', event(), ANY), UnknownError)
      const name = stream()
      await refused(append(name, [event(), event('')], ANY), UnknownError)
      await refused(append(name, event(), STREAM_EXISTS), WrongExpectedVersionError) // all or nothing
      await to.tombstoneStream(name, how)
      const error = await refused(append(name, event(), ANY), StreamDeletedError)
      assert.equal(error.streamName, name)
    })
  })
}

describe('appends over one call', () => {
  test('are decided in the order in which they were sent', async () => {
    const name = stream()
    const sent = Array.from({ length: 300 }, (_, n) =>
      client.appendToStream(name, event('tried', { n }), { expectedRevision: n ? BigInt(n - 1) : NO_STREAM }))
    const answers = await Promise.all(sent)
    assert.deepEqual(answers.map((one) => one.nextExpectedRevision), answers.map((_, n) => BigInt(n)))
    const stored = await all(client.readStream(name))
    assert.deepEqual(stored.map((one) => one.event.data.n), answers.map((_, n) => n))
  })

  test('the fault of one is that one alone', async () => {
    const [good, bad] = [stream(), stream()]
    const answers = await Promise.allSettled(Array.from({ length: 50 }, (_, n) =>
      client.appendToStream(n % 2 ? bad : good, event(), { expectedRevision: n % 2 ? 5n : ANY })))
    assert.deepEqual(answers.map((one) => one.status), answers.map((_, n) => (n % 2 ? 'rejected' : 'fulfilled')))
    assert.equal((await all(client.readStream(good))).length, 25)
  })

  test('one append may come in many messages', async () => {
    const [name, what] = [stream(), events(500)]
    const answer = await client.appendToStream(name, what, { expectedRevision: NO_STREAM, batchAppendSize: 1000 })
    assert.equal(answer.nextExpectedRevision, 499n)
    assert.deepEqual((await all(client.readStream(name))).map((one) => one.event.id), what.map((one) => one.id))
  })

  test('a client that wants no exceptions gets none', async () => {
    const mild = connect(`${plainURL}&throwOnAppendFailure=false`)
    const answer = await mild.appendToStream(stream(), event(), { expectedRevision: STREAM_EXISTS })
    assert.equal(answer.success, false)
  })
})
