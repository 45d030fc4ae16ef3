import type { Row } from '../api/rows'
import type { Language } from './catalogue'

type Way = NonNullable<Row<'/subscribers/{id}/statement'>['channel']>

/** ways say how a payment came, with a space before it, at the end of what is said of it. */
export const ways: Record<Language, Record<Way, string>> = {
  en: { stk: ' by phone prompt', c2b: ' by paybill', cash: ' in cash', bill_manager: ' by bill manager' },
  sw: { stk: ' kwa ombi la simu', c2b: ' kwa paybill', cash: ' kwa pesa taslimu', bill_manager: ' kwa bill manager' },
}
