package messagingcases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// thePlansCap is the cap of the customer's plan.
var thePlansCap = events.Cap{Bytes: 100e9, Period: "month", Then: events.CapStop}

// march is the period of the cap in these tests. It ends at midnight in Nairobi.
var march = events.CapPeriod{
	Period: "month", Starts: calendar.Date{Year: 2026, Month: 3, Day: 1},
	ResetsAt: time.Date(2026, 3, 31, 21, 0, 0, 0, time.UTC),
}

// used is a count against what is allowed, in gigabytes.
func used(part, allowed int64) events.CapCount {
	return events.CapCount{Allowed: allowed * 1e9, Used: part * 1e9, Then: events.CapStop}
}

// about makes the customer's usage have some events, and the job tell of the use of the cap.
func (k *kit) about(t *testing.T, template events.MessageTemplate, c events.CapCount, list ...events.Event) {
	t.Helper()
	k.append(t, k.args.OrgID, "usage-"+k.args.SubscriptionID.String(), list...)
	k.args.Template, k.args.DueAt, k.args.CapPeriod, k.args.CapCount = template, time.Time{}, march, c
}

// subject names the customer's subscription.
func (k *kit) subject() events.UsageSubject {
	return events.UsageSubject{
		SubscriptionID: k.args.SubscriptionID, OrgID: k.args.OrgID, SubscriberID: k.args.SubscriberID,
	}
}

// warned is the event that four fifths are used.
func (k *kit) warned(c events.CapCount) events.Event {
	return events.CapWarned{UsageSubject: k.subject(), CapPeriod: march, CapCount: c, At: noon}
}

// reached is the event that everything is used.
func (k *kit) reached(c events.CapCount) events.Event {
	return events.CapReached{UsageSubject: k.subject(), CapPeriod: march, CapCount: c, At: noon}
}

// added is a top-up in gigabytes.
func (k *kit) added(bytes int64, c events.CapCount) events.Event {
	return events.TopUpAdded{
		UsageSubject: k.subject(), TopUpID: id.New[id.TopUp](), Bytes: bytes * 1e9, CapPeriod: march, CapCount: c,
		At: noon,
	}
}

// reset is the end of the cap after a top-up.
func (k *kit) reset(c events.CapCount) events.Event {
	return events.CapReset{
		UsageSubject: k.subject(), CapPeriod: march, CapCount: c, Reason: events.ResetTopUp, At: noon,
	}
}

// capCases are messages about a cap, and what comes of them after a history of the usage and a wait.
var capCases = map[string]struct {
	template events.MessageTemplate
	count    events.CapCount
	history  func(k *kit) []events.Event
	later    time.Duration
	state    string
	text     string // "" = none is sent
}{
	"warned": {
		template: events.NoticeCapWarned, count: used(81, 100), state: "sent",
		history: func(k *kit) []events.Event { return []events.Event{k.warned(used(81, 100))} },
		text: "The acme: 81.0 GB of 100 GB used. After that your internet stops until 1 Apr 2026 00:00. To add " +
			"more, contact us with account 10000016.",
	},
	"stopped": {
		template: events.NoticeCapStopped, count: used(100, 100), state: "sent",
		history: func(k *kit) []events.Event { return []events.Event{k.reached(used(100, 100))} },
		text: "The acme: all 100 GB are used, and your internet is stopped until 1 Apr 2026 00:00. To add more, " +
			"contact us with account 10000016.",
	},
	"warned, then reached": {
		template: events.NoticeCapWarned, count: used(81, 100), state: "dropped no_longer_true",
		history: func(k *kit) []events.Event {
			return []events.Event{k.warned(used(81, 100)), k.reached(used(100, 100))}
		},
	},
	"warned, then topped up": {
		template: events.NoticeCapWarned, count: used(81, 100), state: "dropped no_longer_true",
		history: func(k *kit) []events.Event {
			return []events.Event{k.warned(used(81, 100)), k.added(1, used(81, 101))}
		},
	},
	"warned again after a top-up": {
		template: events.NoticeCapWarned, count: used(90, 110), state: "sent",
		history: func(k *kit) []events.Event {
			return []events.Event{k.warned(used(81, 100)), k.added(10, used(81, 110)), k.warned(used(90, 110))}
		},
		text: "The acme: 90.0 GB of 110 GB used. After that your internet stops until 1 Apr 2026 00:00. To add " +
			"more, contact us with account 10000016.",
	},
	"reached, then reset": {
		template: events.NoticeCapStopped, count: used(100, 100), state: "dropped no_longer_true",
		history: func(k *kit) []events.Event {
			return []events.Event{
				k.reached(used(100, 100)), k.added(50, used(100, 150)), k.reset(used(100, 150)),
			}
		},
	},
	"reset while it waited": {
		template: events.NoticeCapStopped, count: used(100, 100), state: "dropped expired", later: 9 * time.Hour,
		history: func(k *kit) []events.Event { return []events.Event{k.reached(used(100, 100))} },
	},
}

func TestSend_TheUseOfACap(t *testing.T) {
	t.Parallel()
	for name, c := range capCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, phone())
			k.about(t, c.template, c.count, c.history(k)...)
			k.clock.Advance(c.later)
			for _, job := range []string{"one", "other"} { // the same is never told twice
				again, err := k.send(t, job)
				must(t, again, err)
			}
			switch got := k.state(t); {
			case got != c.state, c.text == "" && len(k.sent) > 0:
				t.Errorf("%s, sent %v, want %s", got, k.sent, c.state)
			case c.text != "" && (len(k.sent) != 1 || k.sent[0].Text != c.text):
				t.Errorf("sent %+v, want %s", k.sent, c.text)
			}
		})
	}
}

func TestSend_AfterATopUpIsAnotherCause(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	k.about(t, events.NoticeCapWarned, used(81, 100), k.warned(used(81, 100)))
	again, err := k.send(t, "first")
	must(t, again, err)
	k.appendAfter(t, 0, k.args.OrgID, "usage-"+k.args.SubscriptionID.String(), k.added(50, used(81, 150)),
		k.warned(used(125, 150)))
	k.args.CapCount = used(125, 150)
	for range 2 {
		again, err = k.send(t, "second")
		must(t, again, err)
	}
	if len(k.sent) != 2 || k.sent[0].ID == k.sent[1].ID {
		t.Errorf("sent %+v", k.sent)
	}
}
