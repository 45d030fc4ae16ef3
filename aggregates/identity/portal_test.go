package identity_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Subscribers of Acme: a house and a shop of the same person.
var (
	house = id.Derive[id.Subscriber]("test", "house")
	shop  = id.Derive[id.Subscriber]("test", "shop")
)

// phoneOfAda is the contact of the house.
const phoneOfAda = "+254700000001"

// give asks for access of a phone to a subscriber.
func give(subscriber id.Subscriber) commands.GivePortalAccess {
	return commands.GivePortalAccess{
		UserID: ada, OrgID: acme, SubscriberID: subscriber, Phone: text(phoneOfAda), FirstName: text("Ada"),
	}
}

// customer is the history of a user who signs in with a phone and sees the house.
func customer() []events.UserEvent {
	return []events.UserEvent{
		events.UserRegistered{UserID: ada, Phone: text(phoneOfAda), FirstName: text("Ada"), RegisteredAt: now},
		events.AddressKeptApart{UserID: ada, OrgID: acme},
		events.MembershipGranted{
			UserID: ada, OrgID: acme, Role: events.RoleSubscriber, Phone: text(phoneOfAda), FirstName: text("Ada"),
			At: now,
		},
		seen(house),
	}
}

// seen is the access to a subscriber.
func seen(s id.Subscriber) events.UserEvent {
	return events.PortalAccessGiven{UserID: ada, OrgID: acme, SubscriberID: s, At: now}
}

// unseen is the end of it.
func unseen(s id.Subscriber) events.UserEvent {
	return events.PortalAccessEnded{UserID: ada, OrgID: acme, SubscriberID: s, At: now}
}

// away takes a subscriber from the user.
func away(s id.Subscriber) commands.EndPortalAccess {
	return commands.EndPortalAccess{UserID: ada, OrgID: acme, SubscriberID: s}
}

func TestPortal_AnAddressThatIsNotKnownBecomesAUserWithOneRight(t *testing.T) {
	t.Parallel()
	user(t).When(give(house)).Then(customer()...)
	user(t).Given(customer()...).When(give(house)).ThenNothing()
	user(t).Given(customer()...).When(give(shop)).Then(seen(shop))
}

func TestPortal_BelongsToNoStaffAndToNobodyWhoIsShutOut(t *testing.T) {
	t.Parallel()
	staff := append(customer()[:3:3], events.MembershipRoleAssigned{
		UserID: ada, OrgID: acme, Role: events.RoleSupport, At: now,
	})
	user(t).Given(staff...).When(give(house)).ThenFails("staff_address")
	disabled := append(customer(), events.MembershipDisabled{UserID: ada, OrgID: acme})
	user(t).Given(disabled...).When(give(shop)).ThenFails("user_disabled")
	foreign := give(shop)
	foreign.OrgID = other
	user(t).Given(customer()...).When(foreign).ThenFails("user_not_found")
	mail := give(shop)
	mail.Phone, mail.Email = personal.Text{}, text("ada@acme.test")
	user(t).Given(customer()...).When(mail).ThenFails("user_not_found") // the phone's sign-in is not that of an address
	forgotten := append(customer(), events.UserForgotten{UserID: ada})
	user(t).Given(forgotten...).When(give(shop)).ThenFails("user_not_found")
}

func TestPortal_OneSignInSeesAtMostAHundredSubscribers(t *testing.T) {
	t.Parallel()
	full := customer()
	for i := range 99 {
		full = append(full, seen(id.Derive[id.Subscriber]("test", fmt.Sprint(i))))
	}
	user(t).Given(full...).When(give(shop)).ThenFails("too_many_subscribers")
	user(t).Given(append(full, unseen(house))...).When(give(shop)).Then(seen(shop))
}

func TestPortal_WhoLosesTheLastSubscriberSeesNothing(t *testing.T) {
	t.Parallel()
	both := append(customer(), seen(shop))
	user(t).Given(both...).When(away(house)).Then(unseen(house))
	user(t).Given(append(both, unseen(house))...).When(away(house)).ThenNothing()
	foreign := away(house)
	foreign.OrgID = other
	user(t).Given(both...).When(foreign).ThenNothing()
	user(t).When(away(house)).ThenFails("user_not_found")
	if folded(append(both, unseen(house))...).SeesNothing(acme) {
		t.Error("who has the shop still sees nothing")
	}
	none := append(both, unseen(house), unseen(shop))
	if !folded(none...).SeesNothing(acme) || folded(append(none, seen(shop))...).SeesNothing(acme) {
		t.Error("it does not end with the last subscriber, or does not begin again")
	}
	if folded(customer()[:3]...).SeesNothing(acme) {
		t.Error("somebody who never had a subscriber has lost the last one")
	}
}

func TestPortal_AForgottenSubscriberTakesItsOwnSignInAlong(t *testing.T) {
	t.Parallel()
	gone := away(house)
	gone.Forget = true
	forgotten := events.UserForgotten{UserID: ada, Reason: "the only subscriber of this sign-in is forgotten"}
	user(t).Given(customer()...).When(gone).Then(unseen(house), forgotten)
	user(t).Given(append(customer(), seen(shop))...).When(gone).Then(unseen(house))
	own := append(customer(), events.PasswordChanged{UserID: ada, At: now})
	user(t).Given(own...).When(gone).Then(unseen(house)) // a sign-in that is more than the portal's
}

func TestPortal_ThePhoneIsTheSignInAndNoDetail(t *testing.T) {
	t.Parallel()
	phone, role, name := text("+254700000009"), events.RoleAdmin, text("Adah")
	correct := commands.CorrectUser{UserID: ada, OrgID: acme, By: boss}
	to := correct
	to.Phone = &phone
	user(t).Given(customer()...).When(to).ThenFails("phone_is_sign_in")
	empty := correct
	empty.Phone = &personal.Text{}
	user(t).Given(customer()...).When(empty).ThenFails("phone_is_sign_in")
	to = correct
	to.Role = &role
	user(t).Given(customer()...).When(to).ThenFails("staff_need_email")
	to = correct
	to.FirstName = &name
	user(t).Given(customer()...).When(to).Then(events.UserDetailsCorrected{
		UserID: ada, Phone: text(phoneOfAda), FirstName: name, At: now,
	})
}

func TestPortal_WhoBecomesStaffIsNoCustomerAnyMore(t *testing.T) {
	t.Parallel()
	byMail := []events.UserEvent{
		events.UserRegistered{UserID: ada, Email: text("ada@acme.test"), FirstName: text("Ada"), RegisteredAt: now},
		events.AddressKeptApart{UserID: ada, OrgID: acme},
		events.MembershipGranted{UserID: ada, OrgID: acme, Role: events.RoleSubscriber, At: now},
		seen(house),
	}
	role := events.RoleSupport
	user(t).Given(byMail...).When(commands.CorrectUser{UserID: ada, OrgID: acme, By: boss, Role: &role}).
		Then(unseen(house), events.MembershipRoleAssigned{UserID: ada, OrgID: acme, Role: role, At: now})
}

func TestPortal_ThePhoneIsOneSignInWithinTheOrganization(t *testing.T) {
	t.Parallel()
	want := []string{"organization_phone " + acme.String() + " " + phoneOfAda + " already_member"}
	if diff := cmp.Diff(want, claimed(customer()...)); diff != "" {
		t.Errorf("claims (-want +got)\n%s", diff)
	}
	if got := claimed(append(customer(), events.UserForgotten{UserID: ada})...); got != nil {
		t.Errorf("a forgotten user holds %v", got)
	}
}
