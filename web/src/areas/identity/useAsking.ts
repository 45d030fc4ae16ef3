import { useState } from 'react'
import { useSecondsLeft } from '../../ui/useSecondsLeft'

/** useAsking runs one call at a time, and keeps why the last one was refused. */
export function useAsking() {
  const [pending, setPending] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const ask = async (call: () => Promise<void>) => {
    setPending(true)
    setProblem(null)
    try {
      await call()
    } catch (cause) {
      setProblem(cause)
    } finally {
      setPending(false)
    }
  }
  return { pending, problem, ask, forget: () => setProblem(null), wait: useSecondsLeft(problem) }
}
