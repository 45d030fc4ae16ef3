package messagingcases_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/messaging"
)

// night lets the organization be quiet from eight in the evening to eight in the morning, and goes to ten at night.
// Messages are of use until the evening after.
func (k *kit) night(t *testing.T) (morning time.Time) {
	t.Helper()
	if err := k.sets(t, messagingcases.SettingsChange{
		Quiet: new(&events.QuietHours{From: 20 * 60, To: 8 * 60}),
	}); err != nil {
		t.Fatal(err)
	}
	k.clock.Advance(10 * time.Hour)
	k.args.Until = noon.Add(32 * time.Hour)
	return time.Date(2026, 3, 5, 5, 0, 0, 0, time.UTC)
}

// waits makes an attempt that has to wait until the morning.
func (k *kit) waits(t *testing.T, morning time.Time) {
	t.Helper()
	again, err := k.send(t, "one")
	if err != nil || !again.Equal(morning) || k.state(t) != "queued" {
		t.Fatalf("again %v, %v; %s", again, err, k.state(t))
	}
	k.clock.Set(morning)
}

// TestSend_WhatIsNotWantedAnyMoreIsDropped: a message that waits for the morning ends, whatever makes it unwanted in
// the night, and stays in no list as if it were on its way.
func TestSend_WhatIsNotWantedAnyMoreIsDropped(t *testing.T) {
	t.Parallel()
	reminds := func(*testing.T, *kit) {}
	for name, c := range map[string]struct{ about, change func(t *testing.T, k *kit) }{
		"the customer wants no more than is needed": {reminds, func(t *testing.T, k *kit) {
			details := phone()
			details.OnlyNeeded = true
			k.appendAfter(t, 0, k.args.OrgID, "subscriber-"+k.args.SubscriberID.String(),
				events.SubscriberDetailsCorrected{SubscriberID: k.args.SubscriberID, Details: details})
		}},
		"its text is empty": {reminds, func(t *testing.T, k *kit) {
			err := k.sets(t, messagingcases.SettingsChange{
				Templates: messagingcases.Templates{events.ReminderBefore: {}},
			})
			if err != nil {
				t.Fatal(err)
			}
		}},
		"the plan is by the day": {reminds, func(t *testing.T, k *kit) {
			line := k.args.SubscriptionID
			k.appendAfter(t, 1, k.args.OrgID, "subscription-"+line.String(), events.SubscriptionPlanChanged{
				SubscriptionID: line, SubscriberID: k.args.SubscriberID, PlanID: id.New[id.Plan](),
				Terms: events.PlanTerms{
					Name: "Day", Mode: events.Prepaid, Price: money.Major(50, money.KES), Period: calendar.Day,
				},
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, phone())
			morning := k.night(t)
			c.about(t, k)
			k.waits(t, morning)
			c.change(t, k)
			k.WaitForAll(t, k.delivery.Views, subscribersviews.SubscribersName, subscribersviews.SubscriptionsName)
			for _, job := range []string{"other", "one", "one"} {
				again, err := k.send(t, job)
				must(t, again, err)
			}
			if got := k.state(t); got != "dropped not_wanted" || len(k.sent) > 0 {
				t.Errorf("%s, sent %+v", got, k.sent)
			}
		})
	}
}

// TestSend_WhatIsNotWantedAfterAStopWhileItIsHandedOverIsNotDropped: the gateway has it, or may have it.
func TestSend_WhatIsNotWantedAfterAStopWhileItIsHandedOverIsNotDropped(t *testing.T) {
	t.Parallel()
	for answered, want := range map[bool]string{true: "sent", false: "in_doubt"} {
		k := handing(t)
		if _, err := k.sendUntil(t, "one", "confirm"); err == nil {
			t.Fatal("it was recorded")
		}
		offers := k.delivery.Offers
		if !answered {
			if err := offers.End(t.Context(), k.sent[0].ID); err != nil {
				t.Fatal(err)
			}
			if _, err := offers.Begin(t.Context(), k.sent[0].ID); err != nil {
				t.Fatal(err)
			}
		}
		k.delivery = messagingcases.Delivery{ // another program
			Bus: k.Bus, Views: k.delivery.Views, Clock: k.clock, PayLink: k.delivery.PayLink,
			Gateways: k.delivery.Gateways, Offers: offers,
		}
		err := k.sets(t, messagingcases.SettingsChange{
			Templates: messagingcases.Templates{events.ReminderBefore: {}},
		})
		if err != nil {
			t.Fatal(err)
		}
		again, err := k.send(t, "one")
		must(t, again, err)
		if got := k.state(t); got != want || len(k.sent) != 1 {
			t.Errorf("%s, want %s; handed over %d times", got, want, len(k.sent))
		}
	}
}

// found books money that a status query found, and makes the messages be about it. claims tells of its real receipt.
func (k *kit) found(t *testing.T, major int64) (claims func()) {
	t.Helper()
	k.pays(t, major)
	receipt, amount := commands.ProvisionalReceiptID("ws_CO_1"), money.Major(major, money.KES)
	k.args.ReceiptID = receipt
	k.append(t, k.args.OrgID, "receipt-"+receipt.String(), events.ReceiptRecorded{
		ReceiptID: receipt, OrgID: k.args.OrgID, Channel: "stk", Amount: amount, PaidAt: noon, Provisional: true,
		Sighting: commands.SightingQuery, RecordedAt: noon,
	})
	k.Run(t, coretest.Operator(k.args.OrgID), commands.CreditReceipt{
		SubscriberID: k.args.SubscriberID, OrgID: k.args.OrgID, ReceiptID: receipt, Channel: "stk", Amount: amount,
		PaidAt: noon, Tax: &events.TaxRule{},
	})
	return func() {
		k.appendAfter(t, 0, k.args.OrgID, "receipt-"+receipt.String(), events.ReceiptClaimed{
			ReceiptID: receipt, OrgID: k.args.OrgID, SubscriberID: k.args.SubscriberID,
			ClaimedBy: id.New[id.Receipt](), ReceiptNumber: "SJK4H7L2Q1", At: k.clock.Now(),
		})
	}
}

// TestSend_MoneyThatAQueryFoundIsToldOnce: with the number of the receipt that claims it, or after three minutes
// without one, and not again when that comes later.
func TestSend_MoneyThatAQueryFoundIsToldOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		claimed time.Duration
		code    string
	}{
		"claimed soon": {30 * time.Second, "SJK4H7L2Q1"}, "claimed later": {time.Hour, "number pending"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, phone())
			claims := k.found(t, 1500)
			for k.clock.Now().Before(noon.Add(2 * time.Hour)) {
				if since := k.clock.Now().Sub(noon); since >= c.claimed && claims != nil {
					claims()
					claims = nil
				}
				again, err := k.send(t, "one")
				if err != nil {
					t.Fatal(err)
				}
				if again.IsZero() {
					again = k.clock.Now().Add(10 * time.Minute)
				}
				if !again.After(k.clock.Now()) || len(k.sent) == 0 && again.After(noon.Add(3*time.Minute)) {
					t.Fatalf("at %s again at %s", k.clock.Now(), again)
				}
				k.clock.Set(again)
			}
			if len(k.sent) != 1 || !strings.HasPrefix(k.sent[0].Text,
				"The acme: KES 1500.00 received for account 10000016, "+c.code+". ") || k.state(t) != "sent" {
				t.Errorf("%s, sent %+v", k.state(t), k.sent)
			}
		})
	}
}

// TestSend_HoursOfDunningAreForDunningAlone: an outage of the evening and an invoice go at ten at night where nobody
// has set quiet hours, and a reminder does not.
func TestSend_HoursOfDunningAreForDunningAlone(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	k.clock.Advance(10 * time.Hour)
	k.args.Until = noon.Add(32 * time.Hour)
	reminder := k.args
	again, err := k.send(t, "reminder")
	if err != nil || !again.Equal(time.Date(2026, 3, 5, 5, 0, 0, 0, time.UTC)) {
		t.Errorf("the reminder again at %v, %v", again, err)
	}
	k.documents(t)
	k.args.Until = reminder.Until
	again, err = k.send(t, "invoice")
	must(t, again, err)
	if len(k.sent) != 1 || k.sent[0].Template != events.NoticeIssued {
		t.Errorf("sent %+v", k.sent)
	}
}

// TestSend_AnInvoiceOfTheEveningIsToldInTheMorningWithoutAReminder: the reminder that is asked for at midnight waits
// for the same morning, and on that day the customer hears of the invoice once.
func TestSend_AnInvoiceOfTheEveningIsToldInTheMorningWithoutAReminder(t *testing.T) {
	t.Parallel()
	for _, early := range []bool{true, false} { // the reminder is asked for before the invoice goes, or after
		k := newKit(t, phone())
		k.invoiced(t, 2)
		reminder := k.args
		morning := k.night(t)
		reminder.Template, reminder.At, reminder.Until = events.ReminderBefore, morning.Add(-8*time.Hour), k.args.Until
		for _, invoice := range k.account(t) {
			issue := commands.SendMessage{
				OrgID: reminder.OrgID, SubscriberID: reminder.SubscriberID, InvoiceID: invoice,
				Template: events.NoticeIssued, At: noon, Until: k.args.Until,
			}
			k.args = issue
			again, err := k.send(t, invoice.String())
			if err != nil || !again.Equal(morning) {
				t.Fatalf("the invoice again at %v, %v", again, err)
			}
		}
		if early {
			k.clock.Set(reminder.At.Add(time.Minute))
			k.args = reminder
			again, err := k.send(t, "reminder")
			must(t, again, err)
		}
		k.clock.Set(morning)
		for _, invoice := range k.account(t) {
			k.args = commands.SendMessage{
				OrgID: reminder.OrgID, SubscriberID: reminder.SubscriberID, InvoiceID: invoice,
				Template: events.NoticeIssued, At: noon, Until: reminder.Until,
			}
			again, err := k.send(t, invoice.String())
			must(t, again, err)
		}
		told := len(k.sent)
		k.args = reminder
		k.clock.Advance(time.Hour)
		again, err := k.send(t, "reminder")
		must(t, again, err)
		if len(k.sent) != told || told == 0 || !slices.Contains(k.states(t), "dropped no_longer_true") {
			t.Errorf("%d were told, then %d; %q", told, len(k.sent), k.states(t))
		}
	}
}

// TestSend_WithoutAWayBackItIsTriedThereAgain: the organization has a text for WhatsApp alone, and WhatsApp is away for
// a while. What it refuses ends with its own reason.
func TestSend_WithoutAWayBackItIsTriedThereAgain(t *testing.T) {
	t.Parallel()
	for _, refuses := range []bool{false, true} {
		k, c := newChatKit(t)
		err := k.sets(t, messagingcases.SettingsChange{Templates: messagingcases.Templates{
			events.ReminderBefore: {WhatsApp: "pay_soon {amount} {account}"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		c.says = errDown
		for range 3 {
			if again, err := k.send(t, "one"); err == nil {
				t.Fatalf("it is not tried again: %v, %s", again, k.state(t))
			}
			k.clock.Advance(time.Minute)
		}
		want := "sent"
		if c.says = nil; refuses {
			c.says, want = &messagingcases.Refusal{Code: "address_refused"}, "failed address_refused"
		}
		if _, err := k.send(t, "one"); err != nil {
			t.Fatal(err)
		}
		if got := k.state(t); got != want || len(k.sent) > 0 || len(c.sent) == 1 == refuses {
			t.Errorf("%s, want %s; there %+v, by SMS %+v", got, want, c.sent, k.sent)
		}
	}
}

// TestSend_WhatIsHeldIsNotReadAndGoesAfterTheRelease: the position of its event is one that no read model has reached,
// so an attempt that reads anything fails.
func TestSend_WhatIsHeldIsNotReadAndGoesAfterTheRelease(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	bus.Register(k.Bus, billing.Fuses())
	k.delivery.Fuse = usecases.NewFuse(events.FuseMessages, k.Bus, func(
		_ context.Context, _ id.Organization, _ string, from calendar.Date, _ *time.Location,
	) (map[calendar.Date]int, error) {
		return map[calendar.Date]int{from.AddDays(events.UsualDays): 5000}, nil
	}, k.clock)
	there := k.args.Position
	k.args.Position = 1 << 60
	looks := map[time.Duration]bool{}
	for _, job := range []string{"one", "two", "three", "four"} {
		again, err := k.send(t, job)
		wait := again.Sub(noon)
		if err != nil || wait < 15*time.Minute || wait >= 30*time.Minute {
			t.Errorf("again at %v, %v", again, err)
		}
		looks[wait] = true
	}
	if len(looks) < 3 {
		t.Errorf("they look together: %v", looks)
	}
	k.Run(t, coretest.Operator(k.args.OrgID), commands.ReleaseFuse{
		FuseID: commands.FuseOf(k.args.OrgID, events.FuseMessages), Date: calendar.On(noon, time.UTC), Reason: "wanted",
	})
	k.clock.Advance(5 * time.Second)
	k.args.Position = there
	again, err := k.send(t, "one")
	must(t, again, err)
	if len(k.sent) != 1 {
		t.Errorf("sent %+v", k.sent)
	}
	k.delivery.Fuse = usecases.NewFuse(events.FuseMessages, k.Bus, func(
		context.Context, id.Organization, string, calendar.Date, *time.Location,
	) (map[calendar.Date]int, error) {
		return nil, errors.New("nothing is counted")
	}, k.clock)
	k.clock.Set(k.args.Until) // whose moment is over waits for nobody
	again, err = k.send(t, "late")
	must(t, again, err)
}

// TestSend_WhatIsHeldWaitsNoLongerThanItIsOfUse, and is dropped then.
func TestSend_WhatIsHeldWaitsNoLongerThanItIsOfUse(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	bus.Register(k.Bus, billing.Fuses())
	k.delivery.Fuse = usecases.NewFuse(events.FuseMessages, k.Bus, func(
		_ context.Context, _ id.Organization, _ string, from calendar.Date, _ *time.Location,
	) (map[calendar.Date]int, error) {
		return map[calendar.Date]int{from.AddDays(events.UsualDays): 5000}, nil
	}, k.clock)
	k.args.Until = noon.Add(10 * time.Minute)
	again, err := k.send(t, "one")
	if err != nil || !again.Equal(k.args.Until) {
		t.Fatalf("again at %v, %v", again, err)
	}
	k.clock.Set(again)
	again, err = k.send(t, "one")
	must(t, again, err)
	if got := k.state(t); got != "dropped expired" {
		t.Errorf("%s", got)
	}
}
