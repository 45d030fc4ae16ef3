// Who may call, how nodes are found, and calls that the node does not serve.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  AccessDeniedError, persistentSubscriptionToStreamSettingsFromDefaults, UnavailableError,
  UnsupportedError,
} from '@eventstore/db-client'
import {
  all, client, connect, credentials, event, guarded, guardedHost, plainHost, refused, stream, Watch,
} from './kit.mjs'

/** One of each kind of call, with options. */
const calls = {
  'an append': (to, how) => to.appendToStream(stream(), event(), how),
  'a read': (to, how) => all(to.readStream('$users', how)),
  'a read of $all': (to, how) => all(to.readAll({ maxCount: 1, ...how })),
  'a subscription': async (to, how) => {
    const watch = new Watch(to.subscribeToStream('$users', how))
    await watch.isLive()
    await watch.subscription.unsubscribe()
  },
  'a subscription to $all': async (to, how) => {
    const watch = new Watch(to.subscribeToAll(how))
    await watch.isLive()
    await watch.subscription.unsubscribe()
  },
  metadata: (to, how) => to.setStreamMetadata(stream(), { maxCount: 1 }, how),
  'a tombstone': (to, how) => to.tombstoneStream(stream(), how),
}

describe('credentials', () => {
  const inAddress = (password) => `${credentials.username}:${encodeURIComponent(password)}@`
  const wrong = { ...credentials, password: 'wrong' }
  const [nobody, right, other] = [guarded(), guarded(inAddress(credentials.password)), guarded(inAddress('wrong'))]

  for (const [name, call] of Object.entries(calls)) {
    test(`of ${name}`, async () => {
      await call(right)
      await call(nobody, { credentials })
      await call(other, { credentials })
      await refused(call(nobody), AccessDeniedError)
      await refused(call(other), AccessDeniedError)
      await refused(call(right, { credentials: wrong }), AccessDeniedError)
      await call(right)
    })
  }

  test('a node that is not trusted, or is called without TLS', async () => {
    await refused(calls['a read'](connect(`esdb://${guardedHost}?tls=true`), { credentials }), UnavailableError)
    await refused(calls['a read'](connect(`esdb://${guardedHost}?tls=false`)), UnavailableError)
  })
})

describe('connections', () => {
  for (const url of [`esdb://${plainHost},${plainHost}?tls=false`, `esdb+discover://${plainHost}?tls=false`]) {
    test(url.split('?')[0].replace(plainHost, 'node'), async () => {
      for (const preference of ['leader', 'follower', 'random', 'readonlyreplica']) {
        await calls['an append'](connect(`${url}&nodePreference=${preference}`))
      }
    })
  }

  test('that ask for the leader', async () => {
    for (const call of Object.values(calls)) await call(client, { requiresLeader: true })
  })
})

test('what the node does not serve is told to be unknown', async () => {
  const [name, unimplemented] = [stream(), 12]
  const settings = persistentSubscriptionToStreamSettingsFromDefaults()
  for (const call of [
    () => client.createPersistentSubscriptionToStream(name, 'group', settings),
    () => client.getPersistentSubscriptionToStreamInfo(name, 'group'),
    () => client.listAllPersistentSubscriptions(),
    () => client.replayParkedMessagesToStream(name, 'group'),
    () => client.restartPersistentSubscriptionSubsystem(),
    () => all(client.subscribeToPersistentSubscriptionToStream(name, 'group')),
    () => client.listProjections(),
    () => client.createProjection('name', 'fromAll()'),
    () => client.createProjection('name', 'fromAll()', { emitEnabled: true, trackEmittedStreams: true }),
  ]) {
    assert.equal((await refused(call(), Error)).code, unimplemented, `${call}`)
  }
  await refused(client.createPersistentSubscriptionToAll('group', settings), UnsupportedError)
  await client.appendToStream(name, event()) // the connection is as it was
})
