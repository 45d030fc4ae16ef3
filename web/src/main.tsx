import './ui/library.css'
import './styles.css'
import './ui/ui.css'
import { createRoot } from 'react-dom/client'
import { App } from './app/App'
import { Missing } from './ui/parts'

createRoot(document.getElementById('root')!, {
  onCaughtError: (error) => {
    // A part that was lost on the way says so on the page, and is no fault of it.
    if (!(error instanceof Missing)) console.error(error)
  },
}).render(<App />)
