import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { asProblem } from '../api/problem'
import { LanguageContext, useSpoken } from '../text/catalogue'
import { Boundary } from '../ui/Boundary'
import { later } from '../ui/later'
import { useIdle } from '../ui/useIdle'
import { Failed } from './Failed'
import { Gate } from './Gate'
import { router } from './router'
import { readable, theme } from './theme'

// A refusal is final. What failed on the way, or because something was away, may succeed a moment later.
const passes = (cause: unknown) => {
  const { status } = asProblem(cause)
  return status === 0 || status >= 500
}

const readAgain = 15_000

// Reads are kept fresh by the stream, so nothing is read again only because time has passed. What failed is tried twice
// more, and then as long as it is shown: a page gets well by itself. Who asks a router tries again when he wants to.
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      gcTime: 300_000,
      retry: (failures, cause) => failures < 2 && passes(cause) && asProblem(cause).status !== 500,
      refetchInterval: ({ state: { error }, options: { retry } }) => error !== null && passes(error) && retry !== false && readAgain,
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
