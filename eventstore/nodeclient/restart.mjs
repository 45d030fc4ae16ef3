// A node that stops and starts again under its clients.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CancelledError, NO_STREAM, UnavailableError } from '@eventstore/db-client'
import { all, client, event, events, eventually, restart, revisions, stream, Watch } from './kit.mjs'

test('a client goes on after the node was restarted', async () => {
  const [name, what] = [stream(), events(3)]
  const before = await client.appendToStream(name, what, { expectedRevision: NO_STREAM })
  const watches = [new Watch(client.subscribeToStream(name)), new Watch(client.subscribeToAll())]
  await Promise.all(watches.map((one) => one.isLive()))
  await restart()
  for (const watch of watches) {
    await watch.until('error', () => watch.error)
    assert.ok(watch.error instanceof UnavailableError || watch.error instanceof CancelledError, watch.error.stack)
  }
  const repeat = () => client.appendToStream(name, what, { expectedRevision: NO_STREAM })
  assert.deepEqual(await eventually(UnavailableError, repeat), before) // nothing is written twice
  const more = await client.appendToStream(name, event('more'), { expectedRevision: 2n })
  assert.ok(more.position.commit > before.position.commit)

  const [seen] = watches
  const again = new Watch(client.subscribeToStream(name, { fromRevision: seen.events.at(-1).event.revision }))
  await again.isLive()
  await client.appendToStream(name, event('last'))
  assert.deepEqual(revisions(await again.first(2)), [3n, 4n])
  assert.equal((await all(client.readStream(name))).length, 5)
  await again.subscription.unsubscribe()
})

test('appends that were under way are stored once when they are sent again', async () => {
  const sent = Array.from({ length: 200 }, () => [stream(), event()])
  const append = ([name, what]) => client.appendToStream(name, what, { expectedRevision: NO_STREAM })
  const under = sent.map((one) => append(one).catch((error) => error))
  await restart()
  for (const [n, before] of (await Promise.all(under)).entries()) {
    const failed = before instanceof UnavailableError || before instanceof CancelledError
    const again = await eventually(UnavailableError, () => append(sent[n]))
    if (!failed) assert.deepEqual(again, before)
    assert.equal((await all(client.readStream(sent[n][0]))).length, 1)
  }
})
