// Filtered subscriptions to $all, and the checkpoints by which they are resumed.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { END, eventTypeFilter, excludeSystemEvents, START, streamNameFilter, UnknownError } from '@eventstore/db-client'
import { client, event, events, stream, Watch } from './kit.mjs'

const follow = (filter, fromPosition = START) => new Watch(client.subscribeToAll({ filter, fromPosition }))

describe('filters', () => {
  const mark = randomUUID().slice(0, 8)
  const [apple, pear] = [`apple${mark}-1`, `pear${mark}-1`]
  const types = { [apple]: [`Red.${mark}`, `green.${mark}`], [pear]: [`green.${mark}`, `Yellow.${mark}`] }

  /** Appends twice the same, before and while there is a subscription by the filter, and gives what came of each. */
  async function selected(filter, count) {
    const fill = async () => {
      for (const name of [apple, pear]) await client.appendToStream(name, types[name].map((type) => event(type)))
    }
    const { position } = await client.appendToStream(stream(), event('begin'))
    await fill()
    const watch = follow(filter, position)
    await watch.isLive()
    await fill()
    const got = (await watch.first(count)).map((one) => `${one.event.streamId} ${one.event.type}`)
    await watch.subscription.unsubscribe()
    assert.equal(got.length, count)
    assert.deepEqual(got.slice(count / 2), got.slice(0, count / 2))
    return got.slice(0, count / 2)
  }
  const whole = [apple, pear].flatMap((name) => types[name].map((type) => `${name} ${type}`))

  test('by prefixes of the stream', async () => {
    assert.deepEqual(await selected(streamNameFilter({ prefixes: [`apple${mark}`] }), 4), whole.slice(0, 2))
    assert.deepEqual(await selected(streamNameFilter({ prefixes: ['no', `apple${mark}`, pear] }), 8), whole)
  })

  test('by an expression for the stream', async () => {
    assert.deepEqual(await selected(streamNameFilter({ regex: `ear${mark}-\\d$` }), 4), whole.slice(2))
  })

  test('by prefixes of the type', async () => {
    assert.deepEqual(await selected(eventTypeFilter({ prefixes: [`green.${mark}`] }), 4), whole.slice(1, 3))
    assert.deepEqual(await selected(eventTypeFilter({ prefixes: [`Red.${mark}`, 'Yellow.'] }), 4),
      [whole[0], whole[3]])
  })

  test('by an expression for the type', async () => {
    assert.deepEqual(await selected(eventTypeFilter({ regex: `^[A-Z].*${mark}` }), 4), [whole[0], whole[3]])
    assert.deepEqual(await selected(eventTypeFilter({ regex: `^(?:green|Red)\\.${mark}$` }), 6), whole.slice(0, 3))
  })

  test('without events of the system', async () => {
    const { position } = await client.appendToStream(stream(), event())
    const watch = follow(excludeSystemEvents(), position)
    await watch.isLive()
    const name = stream()
    await client.setStreamMetadata(name, { maxCount: 1 })
    await client.appendToStream(name, event('seen'))
    assert.deepEqual((await watch.first(1)).map((one) => one.event.type), ['seen'])
    await watch.subscription.unsubscribe()
  })

  test('that the node cannot evaluate', async () => {
    for (const regex of ['(', '(?=a)']) {
      const error = await follow(streamNameFilter({ regex })).ends(UnknownError)
      assert.equal(error.code, 3) // an invalid argument
    }
  })
})

describe('checkpoints', () => {
  test('come while nothing is admitted, grow, and resume without repeats', async () => {
    const [name, told] = [stream('seldom'), []]
    const filter = (more) => streamNameFilter({ prefixes: [name], maxSearchWindow: 10, ...more })
    const { position } = await client.appendToStream(name, events(2))
    await client.appendToStream(stream(), events(95))
    const checkpointReached = (_, at) => void told.push(at.commit)
    const watch = follow(filter({ checkpointInterval: 2, checkpointReached }), position)
    await watch.isLive()
    assert.ok(told.length >= 4, `${told.length} checkpoints for 95 events that pass by`)
    assert.ok(told.every((at, n) => at > (told[n - 1] ?? position.commit)), `checkpoints ${told}`)

    const late = told.length
    await client.appendToStream(stream(), events(50))
    const { position: last } = await client.appendToStream(name, event('after'))
    assert.deepEqual((await watch.first(1)).map((one) => one.event.type), ['after'])
    assert.ok(told.length >= late + 2, `${told.length - late} checkpoints for 50 live events that pass by`)
    await watch.subscription.unsubscribe()

    const at = { commit: told.at(-1), prepare: told.at(-1) }
    const again = follow(filter(), at)
    await again.isLive()
    assert.deepEqual((await again.first(1)).map((one) => one.event.position), [last])
    await again.subscription.unsubscribe()
  })

  test('the end of the log is one, also for a subscription that begins there', async () => {
    const told = []
    const { position } = await client.appendToStream(stream(), event())
    const filter = streamNameFilter({ prefixes: ['no such'], checkpointReached: (_, at) => void told.push(at.commit) })
    const [started, atEnd] = [follow(filter), follow({ ...filter, checkpointReached: undefined }, END)]
    await started.isLive()
    await atEnd.isLive()
    assert.equal(told.at(-1), position.commit)
    assert.deepEqual([started.events, atEnd.events], [[], []])
    await started.subscription.unsubscribe()
    await atEnd.subscription.unsubscribe()
  })
})
