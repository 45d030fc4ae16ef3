import './ui/library.css'
import './styles.css'
import './ui/ui.css'
import { createRoot } from 'react-dom/client'
import { App } from './app/App'

createRoot(document.getElementById('root')!).render(<App />)
