// Large appends, near their limit of 1 MiB of data and above it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ANY, binaryEvent, MaxAppendSizeExceededError, StreamNotFoundError } from '@eventstore/db-client'
import { all, client, credentials, guarded, refused, stream } from './kit.mjs'

const limit = 1 << 20
const large = (bytes) => binaryEvent({ type: 'large', data: Buffer.alloc(bytes, 'x') })

for (const [call, to, how] of [['BatchAppend', client, {}], ['Append', guarded(), { credentials }]]) {
  const append = (name, what) => to.appendToStream(name, what, { expectedRevision: ANY, ...how })

  describe(`large appends by ${call}`, () => {
    test('the limit itself is stored', async () => {
      const name = stream('large')
      await append(name, large(limit))
      await append(name, [large(limit / 2), large(limit / 2)])
      const stored = await all(to.readStream(name, how))
      assert.deepEqual(stored.map((one) => one.event.data.length), [limit, limit / 2, limit / 2])
    })

    test('more is refused, with the limit, and the connection goes on', async () => {
      const name = stream('large')
      for (const what of [large(limit + 1), [large(limit), large(1)], large(5 << 20), Array.from({ length: 20 }, () =>
        large(limit))]) {
        const error = await refused(append(name, what), MaxAppendSizeExceededError)
        assert.equal(error.maxAppendSize, limit)
      }
      await refused(all(to.readStream(name, how)), StreamNotFoundError)
      assert.equal((await append(name, large(1))).nextExpectedRevision, 0n)
    })
  })
}

test('many large events are read at once', async () => {
  const name = stream('large')
  await Promise.all(Array.from({ length: 24 }, () => client.appendToStream(name, large(limit))))
  const lengths = (await all(client.readStream(name))).map((one) => one.event.data.length)
  assert.deepEqual(lengths, Array.from({ length: 24 }, () => limit))
})
