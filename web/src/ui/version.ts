// The program is one file for each version, and serves the files of its own version alone: a page that was opened before
// an upgrade asks for files that are not there any more.

const entry = /<script[^>]*type="module"[^>]*src="([^"]+)"/

/** isOld reports whether the server has another version of the program than this page is of; false when it does not answer. */
export async function isOld(): Promise<boolean> {
  const own = document.querySelector<HTMLScriptElement>('script[type=module][src]')
  try {
    const answer = await fetch('/app/', { cache: 'no-store', signal: AbortSignal.timeout(10_000) })
    const there = answer.ok ? entry.exec(await answer.text())?.[1] : undefined
    return own !== null && there !== undefined && new URL(there, location.href).href !== own.src
  } catch {
    return false
  }
}

// Programs of two versions may stand behind one address for a while: a page does not go back and forth between them.
const reloadedKey = 'lastmile.reloaded'
const reloadAgain = 60_000

/** reloadOnce loads the page anew, and reports false when it has just done so. */
export function reloadOnce(): boolean {
  if (Date.now() - Number(sessionStorage.getItem(reloadedKey)) < reloadAgain) return false
  sessionStorage.setItem(reloadedKey, String(Date.now()))
  location.reload()
  return true
}
