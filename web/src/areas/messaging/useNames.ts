import { useText } from '../../text/catalogue'
import { messagesText } from '../../text/messages'

/** useNames has what each message is about, those about sign-ins last. */
export function useNames(): Record<string, string> {
  const t = useText(messagesText)
  return { ...t.templates, ...t.signIns }
}
