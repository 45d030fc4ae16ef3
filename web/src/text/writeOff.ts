import { catalogue } from './catalogue'

/** writeOffText has what the dialog says that gives up a debt. */
export const writeOffText = catalogue(
  {
    title: (name: string) => `Write off what ${name} owes`,
    verb: 'Write off all that is due',
    verbPart: (amount: string) => `Write off ${amount}`,
    does: 'It is a loss and no payment: by itself it gives no access back, and it ends no service. Whoever pays all that is still asked for an invoice gets what it is for. The invoice that is due first comes first. Money that names one of these invoices later still counts for it.',
    amount: 'Amount',
    rest: (due: string) => `${due} at most; empty = all of it`,
    nothing: 'Nothing is due any more.',
    done: (left: string) => (left ? `Written off. ${left} is still due.` : 'Written off. Nothing is due any more.'),
    accepted: 'Written off. The balance shows it shortly.',
  },
  {
    title: (name) => `Futa deni la ${name}`,
    verb: 'Futa deni lote',
    verbPart: (amount) => `Futa ${amount}`,
    does: 'Ni hasara na si malipo: lenyewe halirudishi mtandao wala kumaliza huduma. Anayelipa kiasi chote kinachobaki kwenye ankara hupata huduma ya ankara hiyo. Ankara inayodaiwa kwanza hufutwa kwanza. Pesa zitakazotaja moja ya ankara hizi baadaye bado zitahesabiwa kwake.',
    amount: 'Kiasi',
    rest: (due) => `Si zaidi ya ${due}; ikiachwa wazi = yote`,
    nothing: 'Hakuna kinachodaiwa tena.',
    done: (left) => (left ? `Deni limefutwa. Bado ${left} inadaiwa.` : 'Deni limefutwa. Hakuna kinachodaiwa tena.'),
    accepted: 'Deni limefutwa. Salio litaonyesha hivi punde.',
  },
)
