package messagingcases_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/outages"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// outage begins one and makes the messages be about it.
func (k *kit) outage(t *testing.T, tag string) id.Outage {
	t.Helper()
	which := id.New[id.Outage]()
	k.Run(t, coretest.Operator(k.args.OrgID), commands.BeginOutage{
		OutageID: which, OrgID: k.args.OrgID, Place: events.NetworkPlace{Tag: tag}, StartedAt: noon,
	})
	return which
}

// tells makes attempts at messages about outages, each by a job of its own, and gives what went.
func (k *kit) tells(t *testing.T, template events.MessageTemplate, which ...id.Outage) (went []events.MessageTemplate) {
	t.Helper()
	before := len(k.sent)
	for _, outage := range which {
		k.args.Template, k.args.OutageID, k.args.DueAt = template, outage, time.Time{}
		again, err := k.send(t, string(template)+outage.String())
		if err != nil || !again.IsZero() && !again.After(k.clock.Now()) {
			t.Fatalf("again %v, %v", again, err)
		}
	}
	for _, m := range k.sent[before:] {
		went = append(went, m.Template)
	}
	return went
}

// merge makes the younger outage a part of the older one.
func (k *kit) merge(t *testing.T, younger, older id.Outage) {
	t.Helper()
	operator := coretest.Operator(k.args.OrgID)
	k.Run(t, operator, commands.EndOutage{OutageID: younger, MergedInto: older})
	k.Run(t, coretest.Operator(k.args.OrgID), commands.ExtendOutage{OutageID: older, Absorbs: []id.Outage{younger}})
}

// TestSend_OutagesThatBecomeOneAreToldOnceAndTheirEndOnce: whichever of them the customer has heard of.
func TestSend_OutagesThatBecomeOneAreToldOnceAndTheirEndOnce(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(older, younger id.Outage) id.Outage{
		"told of the older one":   func(older, _ id.Outage) id.Outage { return older },
		"told of the younger one": func(_, younger id.Outage) id.Outage { return younger },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, phone())
			bus.Register(k.Bus, outages.Outages())
			k.args.Until = noon.Add(24 * time.Hour)
			older, younger := k.outage(t, "hill"), k.outage(t, "valley")
			began := []events.MessageTemplate{events.NoticeOutage}
			if went := k.tells(t, events.NoticeOutage, first(older, younger)); !slices.Equal(went, began) {
				t.Fatalf("went %v", went)
			}
			k.merge(t, younger, older)
			if went := k.tells(t, events.NoticeOutage, older, younger); len(went) > 0 {
				t.Errorf("told again: %v", went)
			}
			k.Run(t, coretest.Operator(k.args.OrgID), commands.EndOutage{OutageID: older})
			over := []events.MessageTemplate{events.NoticeOutageOver}
			if went := k.tells(t, events.NoticeOutageOver, older, older); !slices.Equal(went, over) {
				t.Errorf("of the end went %v", went)
			}
		})
	}
}

// TestSend_WhoseRouterStaysDownHearsOfTheEndOfTheNextOne: the outage was over for others. Who has heard that it is over
// is told of the next one as anybody, and who has not is told of its end alone.
func TestSend_WhoseRouterStaysDownHearsOfTheEndOfTheNextOne(t *testing.T) {
	t.Parallel()
	began, over := events.NoticeOutage, events.NoticeOutageOver
	for name, heard := range map[string]bool{"told of its end": true, "not told": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, phone())
			bus.Register(k.Bus, outages.Outages())
			k.args.Until = noon.Add(24 * time.Hour)
			is := func(template events.MessageTemplate, outage id.Outage, want bool) {
				t.Helper()
				if went := k.tells(t, template, outage); slices.Contains(went, template) != want {
					t.Errorf("%s: went %v", template, went)
				}
			}
			first, next := k.outage(t, "hill"), id.New[id.Outage]()
			run := func(c commands.Command) { t.Helper(); k.Run(t, coretest.Operator(k.args.OrgID), c) }
			is(began, first, true)
			run(commands.EndOutage{OutageID: first, Parted: true})
			if heard {
				is(over, first, true)
			}
			run(commands.BeginOutage{
				OutageID: next, OrgID: k.args.OrgID, Place: events.NetworkPlace{Tag: "hill"}, StartedAt: noon,
				Absorbs: []id.Outage{first},
			})
			is(began, next, heard)
			run(commands.EndOutage{OutageID: next})
			is(over, next, true)
		})
	}
}

// TestSend_WhoHasHeardOfAnEndIsToldOfTheNextBeginning, also when it was the end of an outage of which they had heard as
// another one, that was over without them: of three, the first one's beginning, and the second one's end.
func TestSend_WhoHasHeardOfAnEndIsToldOfTheNextBeginning(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	bus.Register(k.Bus, outages.Outages())
	k.args.Until = noon.Add(24 * time.Hour)
	began, over := events.NoticeOutage, events.NoticeOutageOver
	run := func(c commands.Command) { t.Helper(); k.Run(t, coretest.Operator(k.args.OrgID), c) }
	last := k.outage(t, "hill")
	if went := k.tells(t, began, last); !slices.Equal(went, []events.MessageTemplate{began}) {
		t.Fatalf("of the first one went %v", went)
	}
	for n, want := range [][]events.MessageTemplate{{over}, {began, over}} {
		run(commands.EndOutage{OutageID: last, Parted: true})
		next := id.New[id.Outage]()
		run(commands.BeginOutage{
			OutageID: next, OrgID: k.args.OrgID, Place: events.NetworkPlace{Tag: "hill"}, StartedAt: noon,
			Absorbs: []id.Outage{last},
		})
		went := k.tells(t, began, next)
		run(commands.EndOutage{OutageID: next, Parted: true})
		if went = append(went, k.tells(t, over, next)...); !slices.Equal(went, want) {
			t.Errorf("of outage %d went %v, want %v", n+2, went, want)
		}
		last = next
	}
}

// TestSend_WhoWasNotToldOfAnOutageHearsOfNoEnd, and nothing is recorded of that.
func TestSend_WhoWasNotToldOfAnOutageHearsOfNoEnd(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	bus.Register(k.Bus, outages.Outages())
	k.args.Until = noon.Add(24 * time.Hour)
	older, younger := k.outage(t, "hill"), k.outage(t, "valley")
	k.merge(t, younger, older)
	k.Run(t, coretest.Operator(k.args.OrgID), commands.EndOutage{OutageID: older})
	if went := k.tells(t, events.NoticeOutageOver, older); len(went)+len(k.states(t)) > 0 {
		t.Errorf("went %v, recorded %v", went, k.states(t))
	}
}

// TestSend_MessagesOfTheNightAboutOutagesThatBecameOneAreOne: both wait for the morning, and one goes.
func TestSend_MessagesOfTheNightAboutOutagesThatBecameOneAreOne(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	bus.Register(k.Bus, outages.Outages())
	morning := k.night(t)
	older, younger := k.outage(t, "hill"), k.outage(t, "valley")
	k.tells(t, events.NoticeOutage, older, younger)
	k.merge(t, younger, older)
	k.clock.Set(morning)
	want := []events.MessageTemplate{events.NoticeOutage}
	if went := k.tells(t, events.NoticeOutage, older, younger, older); !slices.Equal(went, want) {
		t.Errorf("went %v; %q", went, k.states(t))
	}
	k.Run(t, coretest.Operator(k.args.OrgID), commands.EndOutage{OutageID: older})
	if went := k.tells(t, events.NoticeOutageOver, older); len(went) != 1 {
		t.Errorf("of the end went %v", went)
	}
}

// TestSend_AnEndWaitsForNoBeginningThatWaitsForTheMorning: nobody hears of an outage of the night, and nothing looks
// for that all night long.
func TestSend_AnEndWaitsForNoBeginningThatWaitsForTheMorning(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	bus.Register(k.Bus, outages.Outages())
	morning := k.night(t)
	which := k.outage(t, "hill")
	k.tells(t, events.NoticeOutage, which)
	k.Run(t, coretest.Operator(k.args.OrgID), commands.EndOutage{OutageID: which})
	k.args.Template = events.NoticeOutageOver
	if again, err := k.send(t, "over"); err != nil || !again.IsZero() {
		t.Errorf("it looks again %v, %v", again, err)
	}
	k.clock.Set(morning)
	went := k.tells(t, events.NoticeOutage, which)
	if states := k.states(t); len(went) > 0 || len(states) != 1 || !strings.HasPrefix(states[0], "dropped") {
		t.Errorf("in the morning went %v; %q", went, states)
	}
}

// TestSend_OfTwoMessagesAboutOneOutageThatWaitTheSameGoes, whichever is looked at first: two that look at the same
// moment would else leave it to each other, and nobody would be told.
func TestSend_OfTwoMessagesAboutOneOutageThatWaitTheSameGoes(t *testing.T) {
	t.Parallel()
	for name, youngerFirst := range map[string]bool{"the older one looks first": false, "the younger one": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, phone())
			bus.Register(k.Bus, outages.Outages())
			morning := k.night(t)
			older, younger := k.outage(t, "hill"), k.outage(t, "valley")
			k.tells(t, events.NoticeOutage, older, younger)
			k.merge(t, younger, older)
			k.clock.Set(morning)
			order := []id.Outage{older, younger}
			if youngerFirst {
				slices.Reverse(order)
			}
			for _, which := range order {
				want := 0
				if which == older {
					want = 1
				}
				if went := k.tells(t, events.NoticeOutage, which); len(went) != want {
					t.Errorf("%d went of the older one %t; %q", len(went), which == older, k.states(t))
				}
			}
		})
	}
}

// TestSend_TheEndWaitsForABeginningThatIsAtItsGateway: the program stops while the gateway takes the message of the
// beginning, and the outage ends before another one goes on with it.
func TestSend_TheEndWaitsForABeginningThatIsAtItsGateway(t *testing.T) {
	t.Parallel()
	k := handing(t)
	bus.Register(k.Bus, outages.Outages())
	k.args.Until = noon.Add(24 * time.Hour)
	which := k.outage(t, "hill")
	k.args.Template, k.args.OutageID, k.args.DueAt = events.NoticeOutage, which, time.Time{}
	k.stopsAtGateway(t, true)
	k.Run(t, coretest.Operator(k.args.OrgID), commands.EndOutage{OutageID: which})
	k.args.Template = events.NoticeOutageOver
	again, err := k.send(t, "over")
	if err != nil || !again.Equal(k.clock.Now().Add(time.Minute)) || len(k.sent) != 1 {
		t.Fatalf("again %v, %v; %d were handed over", again, err, len(k.sent))
	}
	k.args.Template = events.NoticeOutage
	if _, err := k.send(t, "one"); err != nil {
		t.Fatal(err)
	}
	k.args.Template = events.NoticeOutageOver
	if _, err := k.send(t, "over"); err != nil || len(k.sent) != 2 || k.sent[1].Template != events.NoticeOutageOver {
		t.Errorf("%v; %d were handed over", err, len(k.sent))
	}
}
