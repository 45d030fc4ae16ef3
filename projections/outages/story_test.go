package outagesviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/outages"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// The ids of the stories.
var (
	acme     = id.Derive[id.Organization]("test", "acme")
	amina    = id.Derive[id.Subscriber]("test", "amina")
	brian    = id.Derive[id.Subscriber]("test", "brian")
	tower    = id.Derive[id.Device]("test", "tower")
	hill     = id.Derive[id.Device]("test", "hill")
	dark     = id.Derive[id.Outage]("test", "dark")
	area     = id.Derive[id.Outage]("test", "area")
	gift     = id.Derive[id.Compensation]("test", "gift")
	credited = id.Derive[id.Compensation]("test", "credited")
)

// began is the first instant of the stories.
var began = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// at is a minute of the stories.
func at(minute int) time.Time { return began.Add(time.Duration(minute) * time.Minute) }

// line belongs to a subscriber, who has one.
func line(of id.Subscriber) id.Subscription { return id.Derive[id.Subscription]("test", of.String()) }

func TestOutages_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	s := projectiontest.NewStory(acme, began)
	for _, e := range []events.Event{
		events.OutageRulesAdopted{
			OrgID: acme, Rules: events.OutageRules{Detect: true, Tell: true, AfterMinutes: 15, Public: true}, At: at(0),
		},
		events.OutageBegan{
			OutageID: dark, OrgID: acme, Place: events.NetworkPlace{DeviceID: hill}, Devices: []id.Device{hill},
			Detected: true, StartedAt: at(1), TellAfter: at(16), At: at(3),
		},
		events.OutageBegan{
			OutageID: area, OrgID: acme, Place: events.NetworkPlace{Tag: "estate"}, Title: "No power",
			Message: "The street is without power.", StartedAt: at(2), ExpectedEnd: at(200), At: at(4),
		},
		events.OutageExtended{
			OutageID: dark, OrgID: acme, Root: tower, Devices: []id.Device{tower, hill}, At: at(5),
			Downs: events.RouterDowns{{DeviceID: tower, From: at(4)}},
		},
		events.OutageAnnounced{OutageID: area, OrgID: acme, At: at(5)},
		events.OutageEnded{OutageID: area, OrgID: acme, EndedAt: at(6), MergedInto: dark, At: at(6)},
		events.OutageDescribed{
			OutageID: dark, OrgID: acme, Title: "The tower", Message: "No power.", ExpectedEnd: at(80), At: at(10),
		},
		events.OutageNarrowed{
			OutageID: dark, OrgID: acme, At: at(62),
			Downs: events.RouterDowns{{DeviceID: tower, From: at(4), To: at(60)}},
		},
		events.OutageEnded{OutageID: dark, OrgID: acme, EndedAt: at(90), At: at(92)},
		events.OutageRulesAdopted{OrgID: acme, Rules: events.OutageRules{Detect: true}, At: at(100)},
	} {
		s.Add("outage-story", e)
	}
	projectiontest.Check(t, outagesviews.Outages{}, s)
}

func TestCompensations_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	s := projectiontest.NewStory(acme, began)
	previewed := func(of id.Compensation, give events.CompensationGive) events.CompensationPreviewed {
		return events.CompensationPreviewed{
			CompensationID: of, OrgID: acme, Place: events.NetworkPlace{DeviceID: tower}, OutageID: dark, From: at(1),
			To: at(90), Give: give, Reason: "the tower had no power", Subscriptions: 2, Parts: 1, At: at(100),
		}
	}
	one, two := id.Derive[id.Invoice]("test", "one"), id.Derive[id.Invoice]("test", "two")
	noted := func(of id.Invoice, amount int64) events.CreditNoteDrafted {
		return events.CreditNoteDrafted{
			SubscriberID: amina, OrgID: acme, CreditNoteID: events.CompensationNote(credited, of, line(amina)),
			InvoiceID: of, Amount: money.Major(amount, money.KES), DraftedAt: at(122),
		}
	}
	for _, e := range []events.Event{
		previewed(gift, events.CompensationGive{Days: 1}),
		events.CompensationListed{CompensationID: gift, OrgID: acme, Items: []events.CompensationItem{
			{SubscriptionID: line(amina), SubscriberID: amina, Days: 1},
			{SubscriptionID: line(brian), SubscriberID: brian, Days: 1},
		}},
		previewed(credited, events.CompensationGive{Money: money.Major(50, money.KES)}),
		events.CompensationListed{CompensationID: credited, OrgID: acme, Items: []events.CompensationItem{
			{SubscriptionID: line(amina), SubscriberID: amina, Amount: money.Major(50, money.KES)},
			{SubscriptionID: line(brian), SubscriberID: brian, Code: "subscription_ended"},
		}},
		events.CompensationApplied{CompensationID: gift, OrgID: acme, Parts: 1, At: at(110)},
		events.SubscriptionCompensated{
			SubscriptionID: line(amina), SubscriberID: amina, CompensationID: gift, From: at(1), To: at(90),
			FirstDay: calendar.On(at(1), time.UTC), LastDay: calendar.On(at(90), time.UTC), Days: 1, At: at(111),
		},
		events.CompensationPartDone{
			CompensationID: gift, OrgID: acme, Given: 1, At: at(112),
			Refused: []events.CompensationRefusal{{SubscriptionID: line(brian), Code: "already_compensated"}},
		},
		events.CompensationFinished{CompensationID: gift, OrgID: acme, Given: 1, Refused: 1, At: at(113)},
		// Two invoices are credited, of one of which less is left than the preview says.
		events.CompensationApplied{CompensationID: credited, OrgID: acme, Parts: 1, At: at(120)},
		events.SubscriptionCompensated{
			SubscriptionID: line(amina), SubscriberID: amina, CompensationID: credited, From: at(1), To: at(90),
			FirstDay: calendar.On(at(1), time.UTC), LastDay: calendar.On(at(90), time.UTC), At: at(121),
			Credits: []events.DaysCredit{{InvoiceID: one, Days: 1, Of: 30}, {InvoiceID: two, Days: 1, Of: 30}},
		},
		noted(one, 30), noted(two, 10),
	} {
		s.Add("compensation-story", e)
	}
	projectiontest.Check(t, outagesviews.Compensations{}, s)
}
