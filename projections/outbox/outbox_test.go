package outbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/outbox"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// Each detected difference is a message with the data of docs/rules/webhooks.md#outbox; other events are none.
func TestOutbox_Story(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	acme, device, service := id.Derive[id.Organization]("test", "acme"), id.Derive[id.Device]("test", "tower"),
		id.Derive[id.Service]("test", "homes")
	drift := func(hash string) events.ServiceDriftDetected {
		return events.ServiceDriftDetected{
			ServiceID: service, OrgID: acme, DeviceID: device, FirstSeenAt: began, Hash: hash, At: began,
			Resources: []events.DriftedResource{
				{Path: "ip/pool", Kind: "missing", Name: "pool", Expected: map[string]string{"ranges": "a"}},
			},
		}
	}
	story := projectiontest.NewStory(acme, began).Add("nasservice-homes", drift("one"),
		events.ServiceDriftCleared{ServiceID: service, DeviceID: device, At: began}, drift("two")).
		Add("nasdevice-tower", events.DeviceSetupDrifted{
			DeviceID: device, OrgID: acme, FirstSeenAt: began, Hash: "three", At: began,
			Resources: []events.DriftedResource{{
				Path: "radius", Kind: "changed", Name: "Platform", Expected: map[string]string{"timeout": "3s"},
				Actual: map[string]string{"timeout": "1s"},
			}},
		}, events.DeviceSetupCleared{DeviceID: device, At: began})
	customer := events.DunningSubject{
		SubscriptionID: id.Derive[id.Subscription]("test", "line"), OrgID: acme,
		SubscriberID: id.Derive[id.Subscriber]("test", "amina"),
	}
	step := events.DunningStep{
		DueAt: began, Due: money.Major(1500, money.KES), At: began, PlanID: id.Derive[id.Plan]("test", "home"),
		InvoiceIDs: []id.Invoice{id.Derive[id.Invoice]("test", "1")},
	}
	prepaid := events.DunningStep{DueAt: began, Due: money.Of(0, money.KES), At: began}
	still := prepaid // a write-off was proposed, and is not any more
	still.Before = events.DunningWrittenOff
	known, old := step, step // a write-off is proposed after the suspension, and together with it
	known.Before, old.Before = events.DunningSuspended, events.DunningWalledGarden
	story = story.Add("dunning-line", events.DunningBegan{DunningSubject: customer, DunningStep: step},
		events.WalledGardenEntered{DunningSubject: customer, DunningStep: step},
		events.ServiceSuspended{DunningSubject: customer, DunningStep: prepaid},
		events.WriteOffProposed{DunningSubject: customer, DunningStep: known},
		events.ServiceSuspended{DunningSubject: customer, DunningStep: still},
		events.WriteOffProposed{DunningSubject: customer, DunningStep: old})
	story = withReturns(withMoney(withStarts(story, acme, began), acme, began), acme, began)
	projectiontest.Check(t, outbox.Outbox{}, withCPEs(story, acme, began))
}

// withMoney adds payments and an invoice: each success is one message, however often it is recorded, and each end of a
// prompt without money has what was asked for.
func withMoney(story *projectiontest.Story, acme id.Organization, began time.Time) *projectiontest.Story {
	amina, kes := id.Derive[id.Subscriber]("test", "amina"), money.Major(1500, money.KES)
	story.Add("account-amina", events.InvoiceIssued{
		SubscriberID: amina, OrgID: acme, InvoiceID: id.Derive[id.Invoice]("test", "1"), Number: "ACME-0001",
		Total: kes, DueOn: calendar.On(began, time.UTC), IssuedAt: began,
	})
	for _, name := range []string{"paid", "cancelled", "refused", "expired", "waiting"} {
		payment := id.Derive[id.Payment]("test", name)
		list := []events.Event{events.PaymentInitiated{
			PaymentID: payment, OrgID: acme, SubscriberID: amina, Amount: kes, Phone: personal.Of("254711000001"),
			InitiatedAt: began,
		}}
		switch name {
		case "paid":
			paid := events.PaymentSucceeded{
				PaymentID: payment, OrgID: acme, SubscriberID: amina, Amount: kes, Provisional: true, By: "query",
				At: began,
			}
			again := paid
			again.Provisional, again.By = false, "operator"
			list = append(list, paid, again)
		case "cancelled":
			list = append(list, events.PaymentCancelled{PaymentID: payment, SubscriberID: amina, Code: "1032"})
		case "refused":
			list = append(list, events.PaymentFailed{PaymentID: payment, SubscriberID: amina, Code: "4711", At: began})
		case "expired":
			list = append(list, events.PaymentExpired{PaymentID: payment, SubscriberID: amina, At: began})
		}
		story.Add("payment-"+name, list...)
	}
	for _, of := range []events.ReceiptMatched{
		{Channel: "c2b"}, {Channel: "cash"}, {Channel: "bill_manager"},
		{Channel: "stk", PaymentID: id.Derive[id.Payment]("test", "paid")}, // its success tells it
		{Channel: "c2b", Confirms: true},                                   // nothing is credited
	} {
		name := fmt.Sprint(of.Channel, of.Confirms)
		of.ReceiptID, of.OrgID, of.SubscriberID = id.Derive[id.Receipt]("test", name), acme, amina
		of.Amount, of.PaidAt, of.At = kes, began, began
		story.Add("receipt-"+name, of)
	}
	return story
}

// withStarts adds subscriptions: one message when service begins, with the end of what is paid.
func withStarts(story *projectiontest.Story, acme id.Organization, began time.Time) *projectiontest.Story {
	for _, name := range []string{"prepaid", "postpaid", "moved", "carried", "ended", "waiting"} {
		line, amina := id.Derive[id.Subscription]("test", name), id.Derive[id.Subscriber]("test", "amina")
		list := []events.Event{
			events.SubscriptionCreated{
				SubscriptionID: line, OrgID: acme, SubscriberID: amina, PlanID: id.Derive[id.Plan]("test", "home"),
			},
			events.PeriodDue{SubscriptionID: line, OrgID: acme, SubscriberID: amina},
		}
		active := events.SubscriptionActivated{SubscriptionID: line, SubscriberID: amina, At: began}
		paid := events.SubscriptionExtended{
			SubscriptionID: line, SubscriberID: amina, PaidUntil: began.AddDate(0, 1, 0),
		}
		later := paid
		later.PaidUntil = began.AddDate(0, 2, 0)
		switch name {
		case "prepaid":
			list = append(list, active, paid, later)
		case "postpaid":
			due := list[1]
			list = append(list[:1], active, due, due)
		case "moved":
			list = append(list, events.SubscriptionPlanChanged{
				SubscriptionID: line, OrgID: acme, SubscriberID: amina, PlanID: id.Derive[id.Plan]("test", "fast"),
			}, active, paid)
		case "carried":
			active.Carried = true
			list = append(list, active, paid)
		case "ended":
			list = append(list, events.SubscriptionEnded{SubscriptionID: line, SubscriberID: amina, At: began})
		}
		story.Add("subscription-"+name, list...)
	}
	return story
}

// withReturns adds services that come back after the walled garden, a suspension or a pause: a message with the reason,
// once, and only when nothing else still stops the service.
func withReturns(story *projectiontest.Story, acme id.Organization, began time.Time) *projectiontest.Story {
	amina, plan := id.Derive[id.Subscriber]("test", "amina"), id.Derive[id.Plan]("test", "home")
	var of events.DunningSubject
	step := func(before events.DunningState) events.DunningStep {
		return events.DunningStep{
			Before: before, DueAt: began, Due: money.Major(1500, money.KES), At: began, PlanID: plan,
		}
	}
	garden := func() events.Event { return events.WalledGardenEntered{DunningSubject: of, DunningStep: step("")} }
	off := func() events.Event { return events.ServiceSuspended{DunningSubject: of, DunningStep: step("")} }
	grace := func() events.Event {
		return events.DunningBegan{DunningSubject: of, DunningStep: step(events.DunningWalledGarden)}
	}
	over := func(before events.DunningState) events.Event {
		return events.DunningEnded{DunningSubject: of, Before: before, At: began}
	}
	pause := func() events.Event { return events.SubscriptionPaused{SubscriptionID: of.SubscriptionID, At: began} }
	resume := func() events.Event {
		return events.SubscriptionResumed{SubscriptionID: of.SubscriptionID, PaidUntil: began.AddDate(0, 3, 0)}
	}
	ended := func() events.Event { return events.SubscriptionEnded{SubscriptionID: of.SubscriptionID, At: began} }
	for _, c := range []struct {
		name    string
		carried bool
		then    func() []events.Event
	}{
		{"from_garden", false, func() []events.Event { return []events.Event{garden(), over("walled_garden")} }},
		{"from_suspension", false, func() []events.Event { return []events.Event{off(), over("suspended")} }},
		{"to_grace", true, func() []events.Event { return []events.Event{garden(), grace()} }},
		{"reminded", false, func() []events.Event { return []events.Event{over("reminding")} }}, // nothing was taken
		{"from_pause", false, func() []events.Event { return []events.Event{pause(), resume()} }},
		{"still_in_garden", false, func() []events.Event { return []events.Event{garden(), pause(), resume()} }},
		{"paid_in_pause", false, func() []events.Event {
			return []events.Event{off(), pause(), over("suspended"), resume()}
		}},
		{"ended_in_garden", false, func() []events.Event {
			return []events.Event{garden(), ended(), over("walled_garden")}
		}},
	} {
		line := id.Derive[id.Subscription]("test", c.name)
		of = events.DunningSubject{SubscriptionID: line, OrgID: acme, SubscriberID: amina}
		story.Add("subscription-"+c.name, append([]events.Event{
			events.SubscriptionCreated{SubscriptionID: line, OrgID: acme, SubscriberID: amina, PlanID: plan},
			events.SubscriptionActivated{SubscriptionID: line, SubscriberID: amina, At: began, Carried: c.carried},
			events.SubscriptionExtended{SubscriptionID: line, SubscriberID: amina, PaidUntil: began.AddDate(0, 2, 0)},
		}, c.then()...)...)
	}
	return story
}

// withCPEs adds devices at customers: one message for a claim and for an assignment, with who did it, and none for what
// happens to them otherwise.
func withCPEs(story *projectiontest.Story, acme id.Organization, began time.Time) *projectiontest.Story {
	amina, jane := id.Derive[id.Subscriber]("test", "amina"), id.Derive[id.User]("test", "jane")
	story.With(func(m *events.Metadata) {
		m.Actor = events.Actor{Kind: events.ActorUser, ID: jane.String(), Role: "admin"}
	})
	for _, name := range []string{"claimed", "assigned"} {
		box := id.Derive[id.CPE]("test", name)
		taken := events.CpeClaimed{CpeID: box, OrgID: acme, At: began}
		list := []events.Event{events.CpeIdentified{CpeID: box, At: began}, taken}
		if name == "assigned" {
			taken.SubscriberID = amina
			list[1] = events.CpeAssigned(taken)
		}
		story.Add("cpe-"+name, append(list,
			events.CpeSubscriberAssigned{CpeID: box, OrgID: acme, SubscriberID: amina, At: began},
			events.CpeSubscriberRemoved{CpeID: box, OrgID: acme, SubscriberID: amina, At: began},
			events.CpeReleased{CpeID: box, OrgID: acme, At: began})...)
	}
	return story
}
