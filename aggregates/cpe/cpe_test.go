package cpe_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// One CPE of these tests, and whose it can be.
var (
	now      = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	identity = events.CpeIdentity{SerialNumber: "SN-1", OUI: "00AABB", ProductClass: "ONT"}
	box      = commands.CpeID(identity)
	acme     = id.Derive[id.Organization]("test", "acme")
	amina    = id.Derive[id.Subscriber]("test", "amina")
	brian    = id.Derive[id.Subscriber]("test", "brian")
	line     = id.Derive[id.Subscription]("test", "line")

	identified = events.CpeIdentified{CpeID: box, Identity: identity, At: now}
	claimed    = events.CpeClaimed{CpeID: box, OrgID: acme, At: now}
	given      = events.CpeSubscriberAssigned{
		CpeID: box, OrgID: acme, SubscriberID: amina, SubscriptionID: line, At: now,
	}
	taken    = events.CpeSubscriberRemoved{CpeID: box, OrgID: acme, SubscriberID: amina, At: now}
	released = events.CpeReleased{CpeID: box, OrgID: acme, At: now}
)

// device begins a scenario.
func device(
	t *testing.T, list ...events.CpeEvent,
) *decidertest.Scenario[cpe.CPE, commands.CpeCommand, events.CpeEvent] {
	t.Helper()
	return decidertest.For(t, cpe.CPEs(), now).Given(list...)
}

func TestIdentifyCpe_RecordsTheFirstCallAlone(t *testing.T) {
	t.Parallel()
	identify := commands.IdentifyCpe{CpeID: box, Identity: identity}
	device(t).When(identify).Then(identified)
	device(t, identified).When(identify).ThenNothing()
	device(t, identified, claimed, given).When(identify).ThenNothing()
}

func TestCpe_OneThatNeverCalledIsNotThere(t *testing.T) {
	t.Parallel()
	for _, c := range []commands.CpeCommand{
		commands.LearnCpeDetails{CpeID: box}, commands.ClaimCpe{CpeID: box, OrgID: acme},
		commands.AssignCpe{CpeID: box, OrgID: acme},
		commands.AssignSubscriberToCpe{CpeID: box, SubscriberID: amina}, commands.ReleaseCpe{CpeID: box},
	} {
		device(t).When(c).ThenFails("cpe_not_found")
	}
}

func TestClaimCpe_TakesWhatNobodyHas(t *testing.T) {
	t.Parallel()
	claim := commands.ClaimCpe{CpeID: box, OrgID: acme}
	device(t, identified).When(claim).Then(claimed).BelongsTo(acme, "cpe_not_found")
	device(t, identified, claimed).When(claim).ThenFails("already_claimed")
	device(t, identified, claimed, released).When(claim).Then(claimed)

	whole := commands.ClaimCpe{
		CpeID: box, OrgID: acme, SubscriberID: amina, SubscriptionID: line, Label: personal.Of("Kitchen"),
	}
	device(t, identified).When(whole).Then(
		events.CpeClaimed{CpeID: box, OrgID: acme, SubscriberID: amina, SubscriptionID: line, At: now},
		events.CpeDescribed{CpeID: box, OrgID: acme, SubscriberID: amina, Label: personal.Of("Kitchen"), At: now},
	)
}

func TestAssignCpe_IsAClaimByThePlatform(t *testing.T) {
	t.Parallel()
	assign := commands.AssignCpe{CpeID: box, OrgID: acme, SubscriberID: amina, SubscriptionID: line}
	assigned := events.CpeAssigned{CpeID: box, OrgID: acme, SubscriberID: amina, SubscriptionID: line, At: now}
	device(t, identified).When(assign).Then(assigned)
	for _, had := range []events.CpeEvent{claimed, assigned} {
		device(t, identified, had).When(assign).ThenFails("already_claimed")
		device(t, identified, had).When(commands.ClaimCpe{CpeID: box, OrgID: acme}).ThenFails("already_claimed")
	}
}

func TestAssignSubscriberToCpe_TakesItFromTheCustomerBefore(t *testing.T) {
	t.Parallel()
	give := commands.AssignSubscriberToCpe{CpeID: box, SubscriberID: amina, SubscriptionID: line}
	device(t, identified).When(give).ThenFails("cpe_not_found") // it is no organization's
	device(t, identified, claimed).When(give).Then(given)
	device(t, identified, claimed, given).When(give).ThenNothing()

	other := commands.AssignSubscriberToCpe{CpeID: box, SubscriberID: brian}
	device(t, identified, claimed, given).When(other).Then(taken, events.CpeSubscriberAssigned{
		CpeID: box, OrgID: acme, SubscriberID: brian, At: now,
	})
	login := commands.AssignSubscriberToCpe{CpeID: box, SubscriberID: amina} // the same customer without the service
	device(t, identified, claimed, given).When(login).Then(events.CpeSubscriberAssigned{
		CpeID: box, OrgID: acme, SubscriberID: amina, At: now,
	})
	push := give
	push.PushNow = true
	pushed := given
	pushed.PushNow = true
	device(t, identified, claimed, given).When(push).Then(pushed)
}

func TestReleaseCpe_LeavesNothingOfWhoHadIt(t *testing.T) {
	t.Parallel()
	release := commands.ReleaseCpe{CpeID: box}
	device(t, identified).When(release).ThenFails("cpe_not_found")
	device(t, identified, claimed).When(release).Then(released)
	device(t, identified, claimed, given).When(release).Then(taken, released).ThenState(cpe.CPE{
		ID: box, Identity: identity, SignIn: 1,
	})
	device(t, identified, claimed, released).When(release).ThenFails("cpe_not_found")
}

func TestLearnCpeDetails_RecordsWhatIsNew(t *testing.T) {
	t.Parallel()
	learn := commands.LearnCpeDetails{CpeID: box, Details: events.CpeDetails{Model: "HG8245", FirmwareVersion: "V1"}}
	learned := events.CpeDetailsLearned{CpeID: box, Details: learn.Details, At: now}
	device(t, identified).When(learn).Then(learned)
	device(t, identified, learned).When(learn).ThenNothing()
	mine := learned
	mine.OrgID = acme
	device(t, identified, claimed).When(learn).Then(mine)
}

func TestIdentifyCpe_TakesIdentitiesInOneFormOnly(t *testing.T) {
	t.Parallel()
	spelt := events.CpeIdentity{SerialNumber: " SN-1 ", OUI: "00aabb", ProductClass: "ONT "}
	if got := commands.NormalCpeIdentity(spelt); got != identity {
		t.Errorf("in normal form %+v", got)
	}
	long := strings.Repeat("9", 65)
	for _, c := range []commands.IdentifyCpe{
		{CpeID: box, Identity: spelt}, {CpeID: id.New[id.CPE](), Identity: identity},
		{Identity: events.CpeIdentity{OUI: "00AABB"}}, {Identity: events.CpeIdentity{SerialNumber: "SN-1"}},
		{Identity: events.CpeIdentity{SerialNumber: long, OUI: "00AABB"}},
		{Identity: events.CpeIdentity{SerialNumber: "a\nb", OUI: "00AABB"}},
		{Identity: events.CpeIdentity{SerialNumber: "SN-1", OUI: "00AABB", ProductClass: long}},
	} {
		if c.CpeID.IsZero() {
			c.CpeID = commands.CpeID(c.Identity)
		}
		if code := failure.CodeOf(c.Validate()); code != "invalid_input" {
			t.Errorf("%+v: %q", c, code)
		}
	}
	bare := events.CpeIdentity{SerialNumber: "SN-1", OUI: "00AABB"} // some devices have no class
	if err := (commands.IdentifyCpe{CpeID: commands.CpeID(bare), Identity: bare}).Validate(); err != nil {
		t.Error(err)
	}
}
