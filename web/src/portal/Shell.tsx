import { lazy, Suspense, useEffect } from 'react'
import { useOutdated } from '../api/outdated'
import { useText } from '../text/catalogue'
import { portalPagesText } from '../text/portalPages'
import { Boundary } from '../ui/Boundary'
import { nameOf, useOwn } from './accounts'
import { go, to, useAddress } from './address'
import { Home } from './Home'
import { NewVersion } from './NewVersion'
import { Button, Choice, Go, Mark, marks, Page, Waiting } from './parts'
import { reload } from './updates'

// What nobody needs to see the own state is read later; the worker keeps it with the rest.
const pay = () => import('./Pay')
const Pay = lazy(pay)
const Bills = lazy(() => import('./Bills'))
const Usage = lazy(() => import('./Usage'))
const Support = lazy(() => import('./Support'))
const Devices = lazy(() => import('./Devices'))
const Profile = lazy(() => import('./Profile'))

// The pages that the menu leads to.
const places = ['home', 'bills', 'usage', 'support', 'profile'] as const
const pathOf = { home: '', bills: 'invoices', usage: 'usage', support: 'support', profile: 'profile' } as const
const placeOf: Partial<Record<string, (typeof places)[number]>> = {
  '': 'home', pay: 'home', devices: 'home', invoices: 'bills', receipts: 'bills', statement: 'bills', usage: 'usage', support: 'support',
  profile: 'profile',
}

/** Shell is the frame of every page: whose account it is about, the menu, and what is amiss with the connection. */
export function Shell() {
  const t = useText(portalPagesText)
  const { me, accounts, account } = useOwn()
  const { page } = useAddress()
  const several = accounts.length > 1
  const about = several ? account.id : undefined
  const old = useOutdated()
  useEffect(() => void pay().catch(() => undefined), []) // whoever comes to pay waits for nothing
  return (
    <div className="shell">
      <a className="skip" href="#content">{t.goOn}</a>
      <header>
        <p className="place">{me.org?.name}</p>
        {several && (
          <Choice
            label={t.whichAccount}
            value={account.id}
            of={accounts.map((a) => [a.id, t.accountOf(nameOf(a, t), a.accountNumber)])}
            onChoose={(id) => go(to(page === 'pay' ? '' : page, { account: id }))}
          />
        )}
      </header>
      <nav aria-label={t.menu}>
        {places.map((place) => (
          <Go key={place} to={to(pathOf[place], { account: about })} className="place-link" aria-current={placeOf[page] === place ? 'page' : undefined}>
            <Mark path={marks[place]} /><span>{t[place]}</span>
          </Go>
        ))}
      </nav>
      <main id="content" tabIndex={-1} key={account.id}>
        <div role="status">
          {old && <p className="note attention">{t.old}</p>}
          <NewVersion />
        </div>
        <Boundary key={page} instead={() => <Missing />}><Suspense fallback={<Waiting height={300} />}><Of page={page} /></Suspense></Boundary>
      </main>
    </div>
  )
}

/** Missing stands where a page could not be read, or drawn. */
function Missing() {
  const t = useText(portalPagesText)
  return <Page title={t.failedHere}><Button look="main" onClick={reload}>{t.reload}</Button></Page>
}

/** Of is the page at an address. */
function Of({ page }: { page: string }) {
  const t = useText(portalPagesText)
  switch (page) {
    case '':
      return <Home />
    case 'pay':
      return <Pay />
    case 'invoices':
    case 'receipts':
    case 'statement':
      return <Bills part={page} />
    case 'usage':
      return <Usage />
    case 'devices':
      return <Devices />
    case 'support':
      return <Support />
    case 'profile':
      return <Profile />
    default:
      return <Page title={t.notHere}><Go to={to('')} className="button main">{t.goHome}</Go></Page>
  }
}
