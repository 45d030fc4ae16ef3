import { onlineManager, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { readUntilRead, triedTwice } from '../api/again'
import { LanguageContext, useSpoken } from '../text/catalogue'
import { Boundary } from '../ui/Boundary'
import { Failed } from './Failed'
import { Gate } from './Gate'

// A page that opens without a network, as the worker has it, reads as soon as there is one.
onlineManager.setOnline(navigator.onLine)

// Customers get no stream of changes: what is shown is read again when somebody comes back to it, and every minute.
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      staleTime: 5000,
      gcTime: 300_000,
      retry: triedTwice,
      refetchOnReconnect: true,
      refetchInterval: (read) => readUntilRead(read) || 60_000,
    },
    mutations: { networkMode: 'always' },
  },
})

/** App is the whole portal. */
export function App() {
  return (
    <LanguageContext value={useSpoken()}>
      <QueryClientProvider client={queries}>
        <Boundary instead={() => <Failed />}><Gate /></Boundary>
      </QueryClientProvider>
    </LanguageContext>
  )
}
