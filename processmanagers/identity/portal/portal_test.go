package portal_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/identity/portal"
)

// A subscriber whom two users see.
var (
	now   = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	later = now.Add(time.Hour)
	acme  = id.Derive[id.Organization]("test", "acme")
	house = id.Derive[id.Subscriber]("test", "house")
	ada   = id.Derive[id.User]("test", "ada")
	nia   = id.Derive[id.User]("test", "nia")
	gone  = events.SubscriberForgotten{SubscriberID: house, Undone: true}
	over  = processmanagers.Timer{Name: "over", At: later}
)

// sees is the access of a user to the subscriber.
func sees(user id.User) events.Event {
	return events.PortalAccessGiven{UserID: user, OrgID: acme, SubscriberID: house}
}

// loses is the end of it.
func loses(user id.User) events.Event {
	return events.PortalAccessEnded{UserID: user, OrgID: acme, SubscriberID: house}
}

// end is the command that takes the subscriber from a user.
func end(user id.User) commands.Command {
	return commands.EndPortalAccess{UserID: user, OrgID: acme, SubscriberID: house, Forget: true}
}

// story begins an example whose events are of the organization.
func story(t *testing.T) processtest.Scenario[portal.State] {
	return processtest.For(t, portal.Process(), now).With(events.Metadata{OrgID: acme, At: now})
}

func TestPortal_ASubscriberWhoGoesIsTakenFromEverybodyWhoSeesIt(t *testing.T) {
	t.Parallel()
	story(t).Given(sees(ada), sees(nia), sees(ada)).When(gone).Then(processmanagers.Output{
		Commands: []commands.Command{end(nia), end(ada)}, Timers: []processmanagers.Timer{over},
	}).ThenGoesOn().
		When(loses(nia)).ThenNothing().ThenGoesOn().
		WhenRefused(end(ada), "user_not_found").ThenNothing().ThenGoesOn().
		At(later).WhenDue("over", later).ThenNothing().ThenEnded()
}

func TestPortal_AccessThatCrossedTheEndDoesNotStay(t *testing.T) {
	t.Parallel()
	story(t).When(gone).Then(processmanagers.Output{Timers: []processmanagers.Timer{over}}).ThenGoesOn().
		When(sees(ada)).Then(processmanagers.Output{Commands: []commands.Command{end(ada)}}).ThenGoesOn()
}

func TestPortal_WaitsForNothingWhenNobodySeesTheSubscriber(t *testing.T) {
	t.Parallel()
	story(t).When(sees(ada)).ThenNothing().ThenGoesOn().When(loses(ada)).ThenNothing().ThenEnded()
	story(t).When(loses(ada)).ThenNothing().ThenEnded()
}
