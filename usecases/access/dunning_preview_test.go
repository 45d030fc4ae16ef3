package accesscases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// TestPreview_WhatCameLaterInTheLogIsTheLastWord: a part was paid while a clock was three days ahead, and the rest when
// it was right. So nobody is cut.
func TestPreview_WhatCameLaterInTheLogIsTheLastWord(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	c := clock.NewManual(began.AddDate(0, 1, 0))
	k := coretest.New(t, c)
	bus.Register(k.Bus, identity.Organizations())
	org := id.New[id.Organization]()
	k.Run(t, coretest.Operator(org), coretest.NewOrganization(org, "acme"))
	views := k.Show(t, accessviews.Dunning{})
	subject := events.DunningSubject{
		SubscriptionID: id.New[id.Subscription](), OrgID: org, SubscriberID: id.New[id.Subscriber](),
	}
	owes := func(at time.Time, shillings ...int64) eventstore.New {
		o := events.DunningOwed{At: at}
		for _, n := range shillings {
			o.Debts = append(o.Debts, events.DunningDebt{
				InvoiceID: id.New[id.Invoice](), DueOn: calendar.Date{Year: 2026, Month: 3, Day: 3},
				Amount: money.Major(n, money.KES),
			})
		}
		return eventstore.New{
			Event: events.DunningReviewed{DunningSubject: subject, State: events.DunningNone, Owed: o, At: at},
			Meta: events.Metadata{
				EventID: id.New[id.Event](), CommandID: id.New[id.Command](), OrgID: org, Action: "test", At: at,
				Actor: events.Actor{Kind: events.ActorOperator},
			},
		}
	}
	stream := "dunning-" + subject.SubscriptionID.String()
	_, err := k.Store.Append(t.Context(), stream, eventstore.NoStream, []eventstore.New{
		owes(began, 1000, 500), owes(began.AddDate(0, 0, 3), 500), owes(began.Add(time.Hour)),
	})
	if err != nil {
		t.Fatal(err)
	}
	k.WaitForAll(t, views, accessviews.DunningName)
	board := accesscases.Board{Settings: usecases.RecordedSettings(k.Bus), Clock: c}
	in := accesscases.PreviewInput{From: began, To: c.Now()}
	got, err := board.Preview(t.Context(), accessviews.DunningQuery{Views: views}, org, in)
	if err != nil {
		t.Fatal(err)
	}
	if got.Subscriptions != 1 || len(got.Changes) > 0 {
		t.Errorf("%+v", got)
	}
}
