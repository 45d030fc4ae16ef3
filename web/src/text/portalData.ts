import { catalogue } from './catalogue'

/** portalDataText has what the profile in the portal says about the data of a customer. */
export const portalDataText = catalogue(
  {
    title: 'Your data',
    hint: 'One file with all that your provider keeps of this account: details, services, invoices, payments, messages, usage and support requests. Keep it as carefully as your documents.',
    download: 'Download my data',
    done: 'Saved among your downloads.',
    forget: 'If you want to be forgotten, ask your provider. Numbers and sums of invoices and receipts stay.',
  },
  {
    title: 'Data yako',
    hint: 'Faili moja yenye yote ambayo mtoa huduma wako anahifadhi kuhusu akaunti hii: maelezo, huduma, ankara, malipo, ujumbe, matumizi na maombi ya msaada. Itunze kama hati zako.',
    download: 'Pakua data yangu',
    done: 'Imehifadhiwa kwenye vipakuliwa vyako.',
    forget: 'Ukitaka kusahauliwa, mwombe mtoa huduma wako. Namba na jumla za ankara na stakabadhi hubaki.',
  },
)
