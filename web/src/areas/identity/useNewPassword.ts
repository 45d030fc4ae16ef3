import { useState } from 'react'
import { client } from '../../api/client'

/** shortest is the least length of a password. Source: docs/rules/identity.md. */
const shortest = 10

/** useNewPassword is the form in which a person replaces the own password. */
export function useNewPassword(onDone: () => void) {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [again, setAgain] = useState('')
  const [pending, setPending] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const short = next !== '' && [...next].length < shortest
  const asBefore = next !== '' && next === current
  const save = async () => {
    setPending(true)
    setProblem(null)
    try {
      await client.POST('/auth/password', { body: { currentPassword: current, newPassword: next } })
      setCurrent('')
      setNext('')
      setAgain('')
      onDone()
    } catch (cause) {
      setProblem(cause)
    } finally {
      setPending(false)
    }
  }
  const submit = () => {
    if (!short && !asBefore && next === again) void save()
  }
  const differ = again !== '' && again !== next
  return { current, setCurrent, next, setNext, again, setAgain, short, asBefore, differ, pending, problem, submit }
}
