package cpeviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// began is the first moment of the story.
var began = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// Each CPE has its organization, customer and login, each organization the number of each version, and nothing is left
// of a forgotten person or of who had a released CPE.
func TestCPEs_Story(t *testing.T) {
	t.Parallel()
	projectiontest.Check(t, cpeviews.CPEs{}, storyOfCPEs())
}

// storyOfCPEs has a CPE in each condition that there is.
func storyOfCPEs() *projectiontest.Story {
	acme, amina := id.Derive[id.Organization]("test", "acme"), id.Derive[id.Subscriber]("test", "amina")
	brian, line := id.Derive[id.Subscriber]("test", "brian"), id.Derive[id.Subscription]("test", "amina")
	other, plan := id.Derive[id.Subscription]("test", "brian"), id.Derive[id.Plan]("test", "home")
	story := projectiontest.NewStory(acme, began).
		Add("organization-acme", events.OrganizationCreated{OrgID: acme, Slug: "acme"}).
		Add("plan-home", events.PlanCreated{PlanID: plan, OrgID: acme, Code: "home-10"}).
		Add("subscription-amina", events.SubscriptionCreated{
			SubscriptionID: line, OrgID: acme, SubscriberID: amina, PlanID: plan, Username: personal.Of("amina"),
			PasswordRef: id.Derive[id.Secret]("test", "first"),
		}).
		Add("subscription-brian", events.SubscriptionCreated{
			SubscriptionID: other, OrgID: acme, SubscriberID: brian, PlanID: plan, Username: personal.Of("brian"),
		})
	for _, name := range []string{
		"pending", "claimed", "assigned", "described", "given", "given on", "released", "learned", "forgotten",
		"signed in", "signs in anew",
	} {
		story.Add("cpe-"+name, lifeOf(name, acme, map[string]id.Subscriber{"amina": amina, "brian": brian}, line)...)
	}
	return story.Add("subscription-amina", events.SubscriptionCredentialsSet{
		SubscriptionID: line, SubscriberID: amina, Username: personal.Of("amina2"),
		PasswordRef: id.Derive[id.Secret]("test", "second"),
	}, events.SubscriptionPlanChanged{
		SubscriptionID: line, OrgID: acme, SubscriberID: amina, PlanID: id.Derive[id.Plan]("test", "fast"),
	}).Add("subscription-brian", events.SubscriptionEnded{SubscriptionID: other, SubscriberID: brian, At: began}).
		Add("subscriber-brian", events.SubscriberForgotten{SubscriberID: brian})
}

// lifeOf lists the events of one CPE of the story.
func lifeOf(
	name string, acme id.Organization, who map[string]id.Subscriber, line id.Subscription,
) []events.Event {
	box := id.Derive[id.CPE]("test", name)
	list := []events.Event{events.CpeIdentified{
		CpeID: box, At: began,
		Identity: events.CpeIdentity{SerialNumber: "sn " + name, OUI: "00AABB", ProductClass: "ONT"},
	}}
	learned := events.CpeDetailsLearned{
		CpeID: box, OrgID: acme, Details: events.CpeDetails{
			Manufacturer: "Maker", Model: "HG8245", FirmwareVersion: "V1",
		},
	}
	if name == "pending" {
		learned.OrgID = id.Organization{}
		return append(list, learned)
	}
	claimed := events.CpeClaimed{CpeID: box, OrgID: acme, At: began.Add(time.Hour)}
	called := events.CpeDescribed{
		CpeID: box, OrgID: acme, Label: personal.Of("kitchen"), Location: personal.Of("first floor"), At: claimed.At,
	}
	given := events.CpeSubscriberAssigned{
		CpeID: box, OrgID: acme, SubscriberID: who["amina"], SubscriptionID: line, At: claimed.At,
	}
	taken := events.CpeSubscriberRemoved{CpeID: box, OrgID: acme, SubscriberID: who["amina"], At: claimed.At}
	switch name {
	case "claimed":
		claimed.SubscriberID, claimed.SubscriptionID = who["amina"], line
		return append(list, claimed)
	case "assigned":
		return append(list, events.CpeAssigned(claimed))
	case "described":
		return append(list, claimed, called)
	case "signed in":
		return append(list, claimed, events.CpeSignInProven{CpeID: box, OrgID: acme, At: claimed.At})
	case "signs in anew":
		return append(list, claimed, events.CpeSignInProven{CpeID: box, OrgID: acme, At: claimed.At},
			events.CpeSignInEnded{CpeID: box, OrgID: acme, At: claimed.At})
	case "given":
		return append(list, claimed, given)
	case "given on":
		next := given
		next.SubscriberID, next.SubscriptionID = who["brian"], id.Subscription{}
		return append(list, claimed, given, called, taken, next)
	case "released":
		return append(list, learned, claimed, called, given, taken, events.CpeReleased{CpeID: box, OrgID: acme})
	case "learned":
		newer := learned
		newer.Details.FirmwareVersion = "V2"
		return append(list, claimed, learned, newer)
	}
	claimed.SubscriberID, called.SubscriberID = who["brian"], who["brian"]
	return append(list, claimed, called)
}
