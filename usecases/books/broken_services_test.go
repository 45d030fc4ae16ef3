package bookscases_test

import (
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// brokenServices have faults between a subscription and its customer's money.
func brokenServices() []broken {
	return []broken{
		{"a period that was never invoiced", bookscases.PeriodWithoutInvoice, func(w *world) []events.Envelope {
			return edited(w, all[events.PeriodDue], func(e *events.PeriodDue) { e.InvoiceID = id.New[id.Invoice]() })
		}},
		{"an invoice for no period", bookscases.InvoiceWithoutPeriod, func(w *world) []events.Envelope {
			return streamDropped(w, all[events.PeriodDue])
		}},
		{"a postpaid subscription whose periods have stopped", bookscases.PeriodMissing,
			func(w *world) []events.Envelope {
				w.subs.do(commands.CreateSubscription{
					SubscriptionID: id.New[id.Subscription](), OrgID: w.org, SubscriberID: w.brian,
					PlanID: id.New[id.Plan](), PlanVersion: 1, Timezone: "Africa/Nairobi",
					Username: personal.Of("brian"),
					Terms: events.PlanTerms{
						Name: "Home", Kind: "pppoe", Price: kes(1000), Mode: events.Postpaid, Period: calendar.Month,
					},
				})
				w.pass(70)
				return w.log
			}},
		{"a payment that renews nothing", bookscases.CreditWithoutService, func(w *world) []events.Envelope {
			w.pass(90)
			w.pay(w.amina, 2000)
			return dropped(w, all[events.SubscriptionEnded])
		}},
		{"an ended subscription whose next month is still due", bookscases.DebtWithoutService,
			func(w *world) []events.Envelope {
				var last id.Invoice
				for _, e := range w.log {
					if due, ok := e.Event.(events.PeriodDue); ok {
						last = due.InvoiceID
					}
				}
				return without(w.log, func(e events.Envelope) bool {
					cancelled, isCancelled := e.Event.(events.PeriodCancelled)
					voided, isVoided := e.Event.(events.InvoiceVoided)
					return isCancelled && cancelled.InvoiceID == last || isVoided && voided.InvoiceID == last
				})
			}},
		{"an invoice on another account", bookscases.InvoiceOfOtherCustomer, func(w *world) []events.Envelope {
			return edited(w, all[events.SubscriptionCreated],
				func(e *events.SubscriptionCreated) { e.SubscriberID = w.brian })
		}},
	}
}
