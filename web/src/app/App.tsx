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

// Reads are kept fresh by the stream, so nothing is read again only because time has passed. A refusal is final; what
// failed on the way is tried twice more.
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      gcTime: 300_000,
      retry: (failures, cause) => {
        const { status } = asProblem(cause)
        return failures < 2 && (status === 0 || status === 502 || status === 503)
      },
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
