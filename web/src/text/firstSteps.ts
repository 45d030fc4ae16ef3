import { catalogue } from './catalogue'

/** firstStepsText has what the home of a new organization says. */
export const firstStepsText = catalogue(
  {
    title: 'First steps',
    hint: 'When these four are done, customers can go online and pay. Each can be done at any time.',
    done: 'Done',
    open: 'Still to do',
    steps: {
      plan: 'Make a plan',
      gateway: 'Set up how customers pay',
      router: 'Add a router',
      customer: 'Add the first customer',
    },
    why: {
      plan: 'What customers buy: a speed, a price and a period.',
      gateway: 'The paybill on which their money comes.',
      router: 'It lets customers in who have paid. Its script is pasted once.',
      customer: 'With a plan he gets an invoice, and goes online when it is paid.',
    },
  },
  {
    title: 'Hatua za kwanza',
    hint: 'Hizi nne zikikamilika, wateja wanaweza kuingia mtandaoni na kulipa. Kila moja inaweza kufanywa wakati wowote.',
    done: 'Imekamilika',
    open: 'Bado',
    steps: {
      plan: 'Tengeneza kifurushi',
      gateway: 'Weka jinsi wateja watakavyolipa',
      router: 'Ongeza ruta',
      customer: 'Ongeza mteja wa kwanza',
    },
    why: {
      plan: 'Wanachonunua wateja: kasi, bei na muda.',
      gateway: 'Paybill ambayo pesa zao huingia.',
      router: 'Huwaruhusu wateja waliolipa. Hati yake hubandikwa mara moja.',
      customer: 'Akiwa na kifurushi hupata ankara, na huingia mtandaoni ikilipwa.',
    },
  },
)
