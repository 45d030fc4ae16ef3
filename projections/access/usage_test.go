package accessviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// One subscription is warned, stopped, topped up, and stopped again in a zone that moves; another one is warned in one
// month and stopped in the next; a third one was only used, and topped up by a customer who is forgotten.
func TestUsage_Story(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)
	acme := id.Derive[id.Organization]("test", "acme")
	subject := func(name string) events.UsageSubject {
		return events.UsageSubject{
			SubscriptionID: id.Derive[id.Subscription]("test", name), OrgID: acme,
			SubscriberID: id.Derive[id.Subscriber]("test", name),
		}
	}
	month := func(m time.Month) events.CapPeriod {
		return events.CapPeriod{
			Period: "month", Starts: calendar.Date{Year: 2026, Month: m, Day: 1},
			ResetsAt: time.Date(2026, m+1, 1, -3, 0, 0, 0, time.UTC),
		}
	}
	march, moved := month(3), month(3)
	moved.ResetsAt = moved.ResetsAt.Add(-5 * time.Hour)
	count := events.CapCount{Allowed: 100, Used: 80, Then: events.CapStop}
	topUp := func(s events.UsageSubject, name string) events.Event {
		return events.TopUpAdded{
			UsageSubject: s, TopUpID: id.Derive[id.TopUp]("test", name), Bytes: 50, CapPeriod: march, CapCount: count,
			Reason: personal.Of("the match"), At: began,
		}
	}
	busy, next, light, prepaid := subject("busy"), subject("next"), subject("light"), subject("prepaid")
	price, order := money.Major(250, money.KES), id.Derive[id.Invoice]("test", "order")
	ordered := func(name string, invoice id.Invoice) events.Event {
		return events.TopUpOrdered{
			UsageSubject: prepaid, TopUpID: id.Derive[id.TopUp]("test", name), Bytes: 70, CapPeriod: march,
			Reason: personal.Of("more"), Price: price, InvoiceID: invoice, At: began,
		}
	}
	story := projectiontest.NewStory(acme, began).
		Add("usage-busy", events.FirstSessionBegan{UsageSubject: busy, BeganAt: began, At: began},
			events.CapWarned{UsageSubject: busy, CapPeriod: march, CapCount: count, At: began},
			events.CapReached{UsageSubject: busy, CapPeriod: march, CapCount: count, At: began}, topUp(busy, "one"),
			events.CapReset{UsageSubject: busy, CapPeriod: march, CapCount: count, Reason: events.ResetTopUp},
			events.CapReached{UsageSubject: busy, CapPeriod: march, CapCount: count, At: began.Add(time.Hour)},
			events.CapPeriodMoved{UsageSubject: busy, CapPeriod: moved, At: began}).
		Add("usage-next", events.CapWarned{UsageSubject: next, CapPeriod: march, CapCount: count, At: began},
			events.CapReached{UsageSubject: next, CapPeriod: month(4), CapCount: count, At: began.AddDate(0, 1, 0)}).
		Add("usage-light", events.FirstSessionBegan{UsageSubject: light, BeganAt: began, At: began},
			topUp(light, "two")).
		Add("usage-prepaid", ordered("paid", order), ordered("waits", id.Derive[id.Invoice]("test", "waits")),
			ordered("lapses", id.Derive[id.Invoice]("test", "lapses")), events.TopUpAdded{
				UsageSubject: prepaid, TopUpID: id.Derive[id.TopUp]("test", "paid"), Bytes: 70, CapPeriod: month(4),
				CapCount: count, Price: price, InvoiceID: order, Paid: true, At: began.AddDate(0, 1, 0),
			}).
		Add("account-prepaid", events.InvoiceVoided{
			SubscriberID: prepaid.SubscriberID, InvoiceID: id.Derive[id.Invoice]("test", "lapses"), At: began,
		}, events.InvoiceVoided{SubscriberID: prepaid.SubscriberID, InvoiceID: order, At: began}).
		Add("subscriber-light", events.SubscriberForgotten{SubscriberID: light.SubscriberID})
	projectiontest.Check(t, accessviews.Usage{}, story)
}
