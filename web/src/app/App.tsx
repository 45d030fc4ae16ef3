import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { readUntilRead, triedTwice } from '../api/again'
import { LanguageContext, useSpoken } from '../text/catalogue'
import { Boundary } from '../ui/Boundary'
import { later } from '../ui/later'
import { useIdle } from '../ui/useIdle'
import { Failed } from './Failed'
import { Gate } from './Gate'
import { router } from './router'
import { readable, theme } from './theme'

// Reads are kept fresh by the stream, so nothing is read again only because time has passed. What failed is tried twice
// more, and then as long as it is shown. Who asks a router, or for a secret, tries again when he wants to.
const queries = new QueryClient({
  defaultOptions: {
    // A browser may say that there is no network, and be wrong: whether the server answers is found out by asking.
    queries: {
      networkMode: 'always',
      staleTime: 30_000,
      gcTime: 300_000,
      retry: triedTwice,
      refetchInterval: (read) => read.options.retry !== false && readUntilRead(read),
    },
    // A write that cannot be sent now says so at once, and is not kept to be done when nobody looks any more.
    mutations: { networkMode: 'always' },
  },
})

// The server writes a new value into each copy of the page; styles that scripts add carry it.
const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content
if (nonce) setNonce(nonce)

const Notices = later(async () => (await import('./Notices')).default)

/** App is the whole dashboard. */
export function App() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={readable}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce ?? ''}
    >
      <LanguageContext value={useSpoken()}>
        {useIdle() && <Notices />}
        <QueryClientProvider client={queries}>
          <Boundary instead={(error) => <Failed error={error} />}>
            <Gate>
              <RouterProvider router={router} />
            </Gate>
          </Boundary>
        </QueryClientProvider>
      </LanguageContext>
    </MantineProvider>
  )
}
