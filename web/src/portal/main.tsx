import '../styles.css'
import './portal.css'
import { createRoot } from 'react-dom/client'
import { App } from './App'
import { showColours } from './colours'
import { keepOffer } from './install'
import { keepShell } from './updates'

showColours()
keepShell()
keepOffer()
// A page that comes back from the browser's memory may be of somebody who has signed out meanwhile.
window.addEventListener('pageshow', (e) => {
  if (e.persisted) location.reload()
})
createRoot(document.getElementById('root')!).render(<App />)
