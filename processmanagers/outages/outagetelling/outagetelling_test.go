package outagetelling_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers/outages/outagetelling"
)

// The outage of these tests, at the tower; the hill comes to it.
var (
	now     = time.Date(2026, time.March, 4, 9, 0, 0, 0, time.UTC)
	org     = id.Derive[id.Organization]("test", "org")
	outage  = id.Derive[id.Outage]("test", "outage")
	younger = id.Derive[id.Outage]("test", "younger")
	tower   = id.Derive[id.Device]("test", "tower")
	hill    = id.Derive[id.Device]("test", "hill")

	began = events.OutageBegan{
		OutageID: outage, OrgID: org, Devices: []id.Device{tower}, StartedAt: now, TellAfter: now.Add(time.Hour),
		At: now,
	}
	ended     = events.OutageEnded{OutageID: outage, OrgID: org, EndedAt: now, At: now}
	announced = events.OutageAnnounced{OutageID: outage, OrgID: org, At: now}
	extended  = events.OutageExtended{OutageID: outage, OrgID: org, Devices: []id.Device{tower, hill}, At: now}
)

// told is the job that tells the customers of some routers; of all when none is named.
func told(over bool, devices ...id.Device) commands.TellOutage {
	return commands.TellOutage{
		OrgID: org, OutageID: outage, Over: over, Devices: devices, Position: processtest.Position,
	}
}

// wants compares the jobs of a step.
func wants(t *testing.T, s processtest.Scenario[outagetelling.State], want ...commands.TellOutage) {
	t.Helper()
	var got []commands.TellOutage
	for _, j := range s.Output().Jobs {
		got = append(got, j.(commands.TellOutage))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTelling_AShortOutageSaysNothing(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, outagetelling.Process(), now).Given(began)
	s.When(ended).ThenNothing().ThenEnded()
	wants(t, s.WhenDue("tell", began.TellAfter), told(false))
	merged := ended
	merged.MergedInto = id.Derive[id.Outage]("test", "other")
	s.WhenDue("tell", began.TellAfter).When(merged).ThenNothing()
	wants(t, s.WhenDue("tell", began.TellAfter).When(ended), told(true))
}

func TestTelling_AProposalWaitsForAPerson(t *testing.T) {
	t.Parallel()
	proposal := began
	proposal.TellAfter = time.Time{}
	s := processtest.For(t, outagetelling.Process(), now).Given(proposal)
	s.When(ended).ThenNothing().ThenEnded()
	wants(t, s.When(announced), told(false))
	wants(t, s.Given(announced).When(announced)) // once
	wants(t, s.Given(announced).When(ended), told(true))
	soon := processtest.For(t, outagetelling.Process(), now).Given(began, announced)
	wants(t, soon.WhenDue("tell", began.TellAfter))           // nor when its own time comes
	older := processtest.For(t, outagetelling.Process(), now) // of a log without proposals
	wants(t, older.When(announced), told(false))
	wants(t, older.Given(announced).When(ended), told(true))
}

func TestTelling_RoutersThatComeLaterAreToldAlone(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, outagetelling.Process(), now).Given(began)
	wants(t, s.When(extended)) // they are told with all others
	wants(t, s.Given(extended).WhenDue("tell", began.TellAfter), told(false))
	s = s.Given(announced)
	wants(t, s.When(extended), told(false, hill))
	wants(t, s.Given(extended).When(extended))
	more := extended
	more.Devices = slices.Concat(extended.Devices, []id.Device{id.Derive[id.Device]("test", "valley")})
	wants(t, s.Given(extended).When(more), told(false, more.Devices[2]))
}

// TestTelling_WhoseRouterGoesAwayAgainIsTold: it was back when the others were told. So it is when the time in which it
// was back counts as down, because it has had many.
func TestTelling_WhoseRouterGoesAwayAgainIsTold(t *testing.T) {
	t.Parallel()
	at := func(minutes time.Duration) time.Time { return now.Add(minutes * time.Minute) }
	one := events.RouterDown{DeviceID: hill, From: now, To: at(11)}
	other := events.RouterDown{DeviceID: tower, From: now}
	both := began
	both.Devices, both.Downs = extended.Devices, events.RouterDowns{other, {DeviceID: hill, From: now}}
	narrowed := events.OutageNarrowed{OutageID: outage, OrgID: org, Downs: events.RouterDowns{other, one}, At: at(13)}
	s := processtest.For(t, outagetelling.Process(), now).Given(both)
	again := extended
	again.Downs = events.RouterDowns{other, one, {DeviceID: hill, From: at(40)}}
	wants(t, s.Given(narrowed).When(again)) // they are told with all others
	for name, s := range map[string]processtest.Scenario[outagetelling.State]{
		"a person": s.Given(narrowed, announced), "an older program": s.Given(announced),
	} {
		t.Log(name)
		wants(t, s.When(again), told(false, hill))
		wants(t, s.Given(again).When(again))
	}
	long := extended
	long.Downs = both.Downs
	wants(t, s.Given(narrowed, announced).When(long), told(false, hill))
	wants(t, s.Given(announced).When(long))
	s.Given(ended).When(narrowed).ThenNothing().ThenEnded()
}

func TestTelling_TheEndOfAPartThatWasToldIsToldWithTheWhole(t *testing.T) {
	t.Parallel()
	proposal, absorbs := began, extended
	proposal.TellAfter, absorbs.Absorbed = time.Time{}, []id.Outage{younger}
	s := processtest.For(t, outagetelling.Process(), now).Given(proposal)
	wants(t, s.When(absorbs)) // nobody has confirmed the whole
	wants(t, s.Given(absorbs).When(ended), told(true))
	wants(t, s.Given(extended).When(ended))
}

func TestTelling_WhoseRouterStaysDownDoesNotHearThatItIsOver(t *testing.T) {
	t.Parallel()
	s, parted := processtest.For(t, outagetelling.Process(), now).Given(began, announced), ended
	parted.Back = []id.Device{hill} // as in a log without Parted
	wants(t, s.When(parted), told(true, hill))
	parted.Parted = true
	wants(t, s.When(parted), told(true, hill))
	parted.Back = nil
	wants(t, s.When(parted)) // nobody is back
	goes := began
	goes.TellAfter, goes.Absorbed = time.Time{}, []id.Outage{younger} // what stays down
	s = processtest.For(t, outagetelling.Process(), now).Given(goes)
	wants(t, s.When(ended), told(true))
}
