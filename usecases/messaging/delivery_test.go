package messagingcases_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/messaging"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/messaging"
)

// noon is within the message hours of Nairobi.
var noon = time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)

// errDown is the failure of a gateway that is down.
var errDown = errors.New("the gateway is down")

// kit is an organization with one customer, who was reminded.
type kit struct {
	*coretest.Kit
	delivery messagingcases.Delivery
	clock    *clock.Manual
	args     commands.SendMessage
	sent     []messagingcases.Outgoing
	down     bool
	repeats  bool  // the gateway sends again what it is handed again
	says     error // what it answers after it was handed a message
}

// Send is the gateway of the test.
func (k *kit) Send(_ context.Context, m messagingcases.Outgoing) (messagingcases.Handed, error) {
	if k.down {
		return messagingcases.Handed{}, errDown
	}
	k.sent = append(k.sent, m)
	return messagingcases.Handed{Reference: "ref-1", Cost: "KES 0.80"}, k.says
}

// Once is false for a gateway that cannot recognize a repeat.
func (k *kit) Once() bool { return !k.repeats }

// newKit makes the customer's log and read models.
func newKit(t *testing.T, details events.SubscriberDetails) *kit {
	t.Helper()
	k := &kit{clock: clock.NewManual(noon)}
	k.Kit = coretest.New(t, k.clock, accessviews.Dunning{}, subscribersviews.Subscribers{},
		subscribersviews.Subscriptions{}, messagingviews.Messages{}, billingviews.Invoices{})
	bus.Register(k.Bus, identity.Organizations())
	bus.Register(k.Bus, access.DunningPolicies())
	bus.Register(k.Bus, access.Usages())
	bus.Register(k.Bus, payments.Gateways())
	bus.Register(k.Bus, payments.Receipts())
	bus.Register(k.Bus, billing.Accounts())
	bus.Register(k.Bus, messaging.Messages())
	bus.Register(k.Bus, messaging.SupportRequests())
	bus.Register(k.Bus, messaging.AllSettings())
	org, who, line := id.New[id.Organization](), id.New[id.Subscriber](), id.New[id.Subscription]()
	k.Run(t, coretest.Operator(org), coretest.NewOrganization(org, "acme"))
	due := noon.AddDate(0, 0, 3)
	subject := events.DunningSubject{SubscriptionID: line, OrgID: org, SubscriberID: who}
	k.append(t, org, "subscriber-"+who.String(), events.SubscriberRegistered{
		SubscriberID: who, OrgID: org, AccountNumber: "10000016", Currency: money.KES, Details: details,
	})
	k.append(t, org, "subscription-"+line.String(), events.SubscriptionCreated{
		SubscriptionID: line, OrgID: org, SubscriberID: who, PlanID: id.New[id.Plan](),
		Terms: events.PlanTerms{
			Name: "Home", Mode: events.Prepaid, Price: money.Major(1500, money.KES),
			Access: events.AccessTerms{Cap: thePlansCap},
		},
	}, events.SubscriptionActivated{SubscriptionID: line, SubscriberID: who})
	step := events.DunningStep{DueAt: due, At: noon, Due: money.Of(0, money.KES)}
	k.append(t, org, "dunning-"+line.String(), events.DunningBegan{DunningSubject: subject, DunningStep: step},
		events.DunningReviewed{
			DunningSubject: subject, State: events.DunningReminding, At: noon,
			Owed: events.DunningOwed{At: noon, PaidUntil: due},
		})
	views := k.Show(t)
	k.WaitForAll(t, views, accessviews.DunningName, subscribersviews.SubscribersName,
		subscribersviews.SubscriptionsName)
	k.delivery = messagingcases.Delivery{
		Bus: k.Bus, Views: views, Clock: k.clock,
		PayLink:  func(slug string) string { return "https://" + slug + "/pay" },
		Gateways: map[events.MessageChannel]messagingcases.Gateway{events.ChannelSMS: k, events.ChannelEmail: k},
	}
	k.args = commands.SendMessage{
		OrgID: org, SubscriberID: who, SubscriptionID: line, Template: events.ReminderBefore, DueAt: due, At: noon,
		Until: noon.Add(8 * time.Hour),
	}
	return k
}

// append records events at the beginning of a stream.
func (k *kit) append(t *testing.T, org id.Organization, stream string, list ...events.Event) {
	t.Helper()
	k.appendAfter(t, eventstore.NoStream, org, stream, list...)
}

// appendAfter records events after a revision of a stream.
func (k *kit) appendAfter(
	t *testing.T, revision eventstore.Expected, org id.Organization, stream string, list ...events.Event,
) {
	t.Helper()
	var batch []eventstore.New
	for _, e := range list {
		batch = append(batch, eventstore.New{Event: e, Meta: events.Metadata{
			EventID: id.New[id.Event](), CommandID: id.New[id.Command](), OrgID: org, Action: "test", At: noon,
			Actor: events.Actor{Kind: events.ActorOperator},
		}})
	}
	if _, err := k.Store.Append(t.Context(), stream, revision, batch); err != nil {
		t.Fatal(err)
	}
}

// send makes an attempt of a job.
func (k *kit) send(t *testing.T, job string) (time.Time, error) {
	t.Helper()
	return k.sendUntil(t, job, "")
}

// sendUntil makes an attempt of a job, in which the log takes nothing from the outcome with a name on; "" = all.
func (k *kit) sendUntil(t *testing.T, job, refused string) (time.Time, error) {
	t.Helper()
	ctx, refuse := context.WithCancel(t.Context())
	defer refuse()
	which := id.Derive[id.Any]("test", job)
	return k.delivery.Send(ctx, k.args, messagingcases.Attempt{Job: which,
		Meta: func(name string) commands.Meta {
			if name == refused {
				refuse()
			}
			return commands.Meta{
				CommandID: id.Derive[id.Command]("test", job, name), OrgID: k.args.OrgID,
				Actor: events.Actor{Kind: events.ActorProcess},
			}
		},
	})
}

// state waits for the read model and gives the one message's state, with its code if any.
func (k *kit) state(t *testing.T) string {
	t.Helper()
	states := k.states(t)
	if len(states) != 1 {
		t.Fatalf("messages %q", states)
	}
	return states[0]
}

// states are those of all messages, the newest first.
func (k *kit) states(t *testing.T) (states []string) {
	t.Helper()
	k.WaitForAll(t, k.delivery.Views, messagingviews.MessagesName)
	rows, err := messagingviews.MessagesQuery{Views: k.delivery.Views}.List(t.Context(), k.args.OrgID,
		messagingviews.MessageFilter{}, messagingviews.MessageKey{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		states = append(states, strings.TrimSpace(row.State+" "+row.Code))
	}
	return states
}

// must fails the test when an attempt failed or has to wait.
func must(t *testing.T, again time.Time, err error) {
	t.Helper()
	if err != nil || !again.IsZero() {
		t.Fatalf("again %v, %v", again, err)
	}
}

// phone is a customer who is reached by phone.
func phone() events.SubscriberDetails {
	return events.SubscriberDetails{Phone: personal.Of("+254711000001"), Email: personal.Of("amina@example.com")}
}

func TestSend_GoesOnceWhoeverAsksAndHoweverOften(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	k.down = true
	if _, err := k.send(t, "one"); !errors.Is(err, errDown) {
		t.Fatalf("failure %v", err)
	}
	if s := k.state(t); s != "sending" {
		t.Errorf("state %s", s)
	}
	k.down = false
	k.args.Template = events.ReminderDue // another rule wants to tell of the same debt on the same day
	if again, err := k.send(t, "other"); err != nil || again.IsZero() {
		t.Fatalf("it does not wait for the one that is on its way: %v", err)
	}
	k.args.Template = events.ReminderBefore
	for _, job := range []string{"one", "one", "other"} {
		again, err := k.send(t, job)
		must(t, again, err)
	}
	if len(k.sent) != 1 || k.state(t) != "sent" {
		t.Fatalf("sent %+v, %s", k.sent, k.state(t))
	}
	m := k.sent[0]
	if m.Channel != events.ChannelSMS || m.To != "+254711000001" || m.Text !=
		"The acme: KES 1500.00 is due on 7 Mar 2026 for account 10000016. Pay: https://acme/pay" {
		t.Errorf("message %+v", m)
	}
}

func TestSend_WhatCannotGoSaysWhy(t *testing.T) {
	t.Parallel()
	broken := func(k *kit) { // by a program that knew another word
		k.append(t, k.args.OrgID, "messagesettings-"+k.args.OrgID.String(), events.MessageSettingsSet{
			OrgID: k.args.OrgID, Language: events.English,
			Texts: map[events.Language]map[events.MessageTemplate]events.MessageTexts{
				events.English: {events.ReminderBefore: {SMS: "{nothing}"}},
			},
		})
	}
	for name, c := range map[string]struct {
		details events.SubscriberDetails
		change  func(k *kit)
		want    string
	}{
		"no address":      {events.SubscriberDetails{}, func(*kit) {}, "failed no_address"},
		"broken template": {phone(), broken, "failed template_broken"},
		"no gateway":      {phone(), func(k *kit) { k.delivery.Gateways = nil }, "failed no_gateway"},
		"too late":        {phone(), func(k *kit) { k.clock.Advance(9 * time.Hour) }, "dropped expired"},
		"not true":        {phone(), func(k *kit) { k.args.Template = events.NoticeGarden }, "dropped no_longer_true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, c.details)
			c.change(k)
			again, err := k.send(t, "one")
			must(t, again, err)
			if got := k.state(t); got != c.want || len(k.sent) > 0 {
				t.Errorf("%s, sent %v, want %s", got, k.sent, c.want)
			}
		})
	}
}

// TestSend_IsTriedUntilTheGatewayTakesItOrItsMomentIsOver: however many attempts that makes.
func TestSend_IsTriedUntilTheGatewayTakesItOrItsMomentIsOver(t *testing.T) {
	t.Parallel()
	for back, want := range map[bool]string{true: "sent", false: "failed gateway_failed"} {
		k := newKit(t, phone())
		k.down = true
		for range 15 {
			if _, err := k.send(t, "one"); !errors.Is(err, errDown) {
				t.Fatalf("failure %v", err)
			}
			k.clock.Advance(30 * time.Minute)
		}
		if s := k.state(t); s != "sending" {
			t.Errorf("state %s", s)
		}
		if k.down = !back; !back {
			k.clock.Advance(time.Hour)
		}
		again, err := k.send(t, "one")
		must(t, again, err)
		if got := k.state(t); got != want || len(k.sent) == 1 != back {
			t.Errorf("%s, sent %v, want %s", got, k.sent, want)
		}
	}
}

// TestSend_GoesOnceWhileTheLogTakesNoRecordOfIt: it is recorded as sent when the log is back, also when its moment is
// over by then. A program that was started again does not know that the gateway took it, and repeats it once.
func TestSend_GoesOnceWhileTheLogTakesNoRecordOfIt(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	try := func(times, want int) {
		t.Helper()
		for range times {
			if _, err := k.sendUntil(t, "one", "confirm"); err == nil {
				t.Fatal("the log took a record")
			}
			k.clock.Advance(10 * time.Minute)
		}
		if got := k.state(t); len(k.sent) != want || got != "sending" {
			t.Fatalf("sent %d times, want %d; %s", len(k.sent), want, got)
		}
	}
	try(20, 1)
	d := &k.delivery
	k.delivery = messagingcases.Delivery{
		Bus: d.Bus, Views: d.Views, Clock: d.Clock, PayLink: d.PayLink, Gateways: d.Gateways,
	}
	try(40, 2)
	for range 2 {
		again, err := k.send(t, "one")
		must(t, again, err)
	}
	if got := k.state(t); len(k.sent) != 2 || got != "sent" {
		t.Errorf("sent %d times, %s", len(k.sent), got)
	}
}

func TestSend_WaitsForTheMorningAndGoesByEmailWithoutAPhone(t *testing.T) {
	t.Parallel()
	k := newKit(t, events.SubscriberDetails{Email: personal.Of("amina@example.com")})
	k.clock.Advance(10 * time.Hour) // 22:00 in Nairobi
	k.args.Until = noon.Add(48 * time.Hour)
	again, err := k.send(t, "one")
	morning := time.Date(2026, 3, 5, 5, 0, 0, 0, time.UTC)
	if err != nil || !again.Equal(morning) || k.state(t) != "queued" {
		t.Fatalf("again %v, %v", again, err)
	}
	k.clock.Advance(morning.Sub(k.clock.Now()))
	again, err = k.send(t, "one")
	must(t, again, err)
	if len(k.sent) != 1 || k.sent[0].Channel != events.ChannelEmail || k.sent[0].Subject == "" {
		t.Errorf("sent %+v", k.sent)
	}
}
