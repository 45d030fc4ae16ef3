// The worker keeps the portal's own files on the device, so that it opens at once on a slow network and says in words
// that there is none. It keeps no answer of the API: nothing about a person is on the device without its page.

// What the build puts here: a name that changes with the files, and the files that make up the pages.
const kept = '__KEPT__'
const files = ['__FILES__']
const page = '/portal/'

self.addEventListener('install', (event) => {
  const fresh = files.map((file) => new Request(file, { cache: file.includes('/assets/') ? 'default' : 'reload', credentials: 'omit' }))
  event.waitUntil(caches.open(kept).then((cache) => cache.addAll(fresh)))
})

// It waits while pages of the version before are open, which need its files, until one of them is left for the new one.
self.addEventListener('message', (event) => {
  if (event.data === 'take over') event.waitUntil(self.skipWaiting())
})

self.addEventListener('activate', (event) => {
  const others = async () => {
    const names = await caches.keys()
    await Promise.all(names.filter((name) => name.startsWith('portal-') && name !== kept).map((name) => caches.delete(name)))
    await self.clients.claim()
  }
  event.waitUntil(others())
})

// keep answers from what is kept, or from the network where the device has thrown that away.
const keep = async (request, name) => (await (await caches.open(kept)).match(name)) ?? fetch(request)

self.addEventListener('fetch', (event) => {
  const { request } = event
  const url = new URL(request.url)
  if (request.method !== 'GET' || url.origin !== self.location.origin) return
  const opens = request.mode === 'navigate' && url.pathname.startsWith(page)
  if (opens) event.respondWith(keep(request, page))
  else if (files.includes(url.pathname) && url.pathname !== page) event.respondWith(keep(request, url.pathname))
})
