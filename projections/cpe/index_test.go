package cpeviews_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// cpeNamed is a CPE of the story.
func cpeNamed(name string) id.CPE { return id.Derive[id.CPE]("test", name) }

// toldAll gives what the CPEs of the story are told; one about which nothing is said is left out.
func toldAll(x *cpeviews.Index) map[string]cpeviews.Told {
	all := map[string]cpeviews.Told{}
	for _, name := range []string{
		"pending", "claimed", "assigned", "given", "given on", "released", "signed in", "signs in anew", "stranger",
	} {
		if told, known := x.Told(cpeNamed(name)); known {
			all[name] = told
		}
	}
	return all
}

// filledIndex has applied the story.
func filledIndex() *cpeviews.Index {
	x := cpeviews.NewIndex()
	for _, e := range storyOfCPEs().Events() {
		x.Apply(e)
	}
	return x
}

// TestIndex_Story: each CPE is told what the tables would say, and each version of the firmware is counted alike.
func TestIndex_Story(t *testing.T) {
	t.Parallel()
	acme, x := id.Derive[id.Organization]("test", "acme"), filledIndex()
	had := cpeviews.Told{OrgID: acme, OrgSlug: "acme"}
	online, proven, anew := had, had, had
	online.Username, online.PasswordRef = "amina2", id.Derive[id.Secret]("test", "second") // of a plan that is unknown
	proven.SignInProven, anew.SignIn = true, 1
	want := map[string]cpeviews.Told{
		"pending": {}, "claimed": online, "assigned": had, "given": online, "given on": had, "released": {SignIn: 1},
		"signed in": proven, "signs in anew": anew,
	}
	if diff := cmp.Diff(want, toldAll(x)); diff != "" {
		t.Error(diff)
	}
	counts, known := x.Firmware(acme)
	if diff := cmp.Diff(map[string]int{"": 8, "V2": 1}, counts); diff != "" || !known {
		t.Error(known, diff)
	}
	if counts, known := x.Firmware(id.New[id.Organization]()); len(counts) != 0 || !known {
		t.Errorf("a stranger has %v: %t", counts, known)
	}
}

// TestIndex_ACpeHasTheLoginOfItsOwnCustomer: one that changes hands has nothing of who had it before, and a login that
// ends leaves it.
func TestIndex_ACpeHasTheLoginOfItsOwnCustomer(t *testing.T) {
	t.Parallel()
	x, box := filledIndex(), cpeNamed("claimed")
	apply := func(e events.Event) { x.Apply(events.Envelope{Event: e}) }
	told := func() cpeviews.Told {
		told, known := x.Told(box)
		if !known {
			t.Error("the CPE is not known")
		}
		return told
	}
	acme, line := id.Derive[id.Organization]("test", "acme"), id.Derive[id.Subscription]("test", "amina")
	amina := id.Derive[id.Subscriber]("test", "amina")
	apply(events.SubscriptionPlanChanged{SubscriptionID: line, PlanID: id.Derive[id.Plan]("test", "home")})
	if got := told().Tags(); !cmp.Equal(got, []string{"org:acme", "sub:amina2", "plan:home-10"}) {
		t.Errorf("it has the tags %v", got)
	}
	rival := id.New[id.Organization]()
	apply(events.OrganizationCreated{OrgID: rival, Slug: "rival"})
	apply(events.CpeReleased{CpeID: box, OrgID: acme})
	if got := told(); !cmp.Equal(got, cpeviews.Told{SignIn: 1}) {
		t.Errorf("after the release it is told %+v", got)
	}
	// A login of another organization is not told, whatever a claim says.
	apply(events.CpeClaimed{CpeID: box, OrgID: rival, SubscriberID: amina, SubscriptionID: line})
	if got := told(); got.Username != "" || !cmp.Equal(got.Tags(), []string{"org:rival"}) {
		t.Errorf("the rival's CPE is told %+v", got)
	}
	box = cpeNamed("given")
	apply(events.SubscriberForgotten{SubscriberID: amina})
	if got := told().Tags(); !cmp.Equal(got, []string{"org:acme", "plan:home-10"}) {
		t.Errorf("the CPE of a forgotten person has the tags %v", got)
	}
	apply(events.SubscriptionCreated{
		SubscriptionID: id.New[id.Subscription](), SubscriberID: amina, Username: personal.Of("late"),
	})
	apply(events.SubscriptionEnded{SubscriptionID: line})
	if got := told().Tags(); !cmp.Equal(got, []string{"org:acme"}) {
		t.Errorf("without a login it has the tags %v", got)
	}
}

// TestIndex_SaysNothingWhereAnEventCannotBeRead: the log answers for the CPEs of that organization, and for those that
// nobody has, since one of them may have been claimed.
func TestIndex_SaysNothingWhereAnEventCannotBeRead(t *testing.T) {
	t.Parallel()
	x, rival, box := filledIndex(), id.New[id.Organization](), id.New[id.CPE]()
	for _, e := range []events.Event{
		events.OrganizationCreated{OrgID: rival, Slug: "rival"}, events.CpeIdentified{CpeID: box},
		events.CpeClaimed{CpeID: box, OrgID: rival},
	} {
		x.Apply(events.Envelope{Event: e})
	}
	x.Leave(id.Derive[id.Organization]("test", "acme"))
	if all := toldAll(x); len(all) != 0 {
		t.Errorf("it says %v", all)
	}
	if told, known := x.Told(box); !known || told.OrgSlug != "rival" {
		t.Errorf("of another organization it says %+v: %t", told, known)
	}
	if _, known := x.Firmware(id.Derive[id.Organization]("test", "acme")); known {
		t.Error("it counts versions")
	}
	// What has become of one before its next claim cannot be known, of one that is new as little.
	late := id.New[id.CPE]()
	for _, e := range []events.Event{
		events.CpeIdentified{CpeID: late}, events.CpeClaimed{CpeID: late, OrgID: rival},
		events.CpeClaimed{CpeID: cpeNamed("signed in"), OrgID: rival},
		events.CpeReleased{CpeID: cpeNamed("claimed")}, events.CpeClaimed{CpeID: cpeNamed("claimed"), OrgID: rival},
		events.CpeReleased{CpeID: box}, events.CpeClaimed{CpeID: box, OrgID: rival},
	} {
		x.Apply(events.Envelope{Event: e})
	}
	for _, cpe := range []id.CPE{late, cpeNamed("signed in"), cpeNamed("claimed"), box} {
		if told, known := x.Told(cpe); known {
			t.Errorf("of one that has come to the rival it says %+v", told)
		}
	}
}
