import { useEffect, useState } from 'react'
import { asProblem } from '../api/problem'

/** useSecondsLeft counts down how long the server wants to be left alone after a refusal (429); 0 = it may be asked. */
export function useSecondsLeft(error: unknown): number {
  const wait = error && asProblem(error).status === 429 ? (asProblem(error).retryAfter ?? 0) : 0
  const [left, setLeft] = useState({ of: error, seconds: wait })
  useEffect(() => {
    if (wait === 0) return
    const until = Date.now() + wait * 1000
    const timer = setInterval(() => {
      const seconds = Math.max(0, Math.ceil((until - Date.now()) / 1000))
      setLeft({ of: error, seconds })
      if (seconds === 0) clearInterval(timer)
    }, 1000)
    return () => clearInterval(timer)
  }, [error, wait])
  return left.of === error ? left.seconds : wait
}
