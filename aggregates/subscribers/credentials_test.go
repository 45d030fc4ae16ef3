package subscribers_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// addresses are a static address, a prefix and two MAC addresses.
func addresses() commands.ServiceAddresses {
	return commands.ServiceAddresses{
		StaticIP: personal.Of("203.0.113.9"), StaticIPv6Prefix: personal.Of("2001:db8:1:100::/56"),
		MACAddresses: personal.OfAll([]string{"AA:BB:CC:00:00:01", "AA:BB:CC:00:00:02"}),
	}
}

// assigned records that the subscription has these addresses and no others.
func assigned(a commands.ServiceAddresses) events.SubscriptionAddressesAssigned {
	return events.SubscriptionAddressesAssigned{
		SubscriptionID: subscription, SubscriberID: subscriber, StaticIP: a.StaticIP,
		StaticIPv6Prefix: a.StaticIPv6Prefix, MACAddresses: a.MACAddresses, At: now,
	}
}

func TestAddresses_AreClaimedUntilTheyAreRemovedOrTheSubscriptionEnds(t *testing.T) {
	t.Parallel()
	ours := org.String()
	name := "username " + ours + "/jane username_taken"
	all := []string{
		name, "static_ip " + ours + "/203.0.113.9 static_ip_taken",
		"static_ipv6_prefix " + ours + "/2001:db8:1:100::/56 static_ipv6_prefix_taken",
	}
	s := prepaid(t)
	s.When(commands.AssignAddresses{SubscriptionID: subscription, Addresses: addresses()}).Then(assigned(addresses()))
	if diff := cmp.Diff(all, claims(aggregate().Claims(s.State()))); diff != "" {
		t.Errorf("with addresses (-want +got)\n%s", diff)
	}
	s.When(commands.AssignAddresses{SubscriptionID: subscription, Addresses: addresses()}).ThenNothing()
	s.SurvivesClosing()
	s.When(commands.AssignAddresses{SubscriptionID: subscription}).Then(assigned(commands.ServiceAddresses{}))
	if diff := cmp.Diff([]string{name}, claims(aggregate().Claims(s.State()))); diff != "" {
		t.Errorf("without addresses (-want +got)\n%s", diff)
	}
	s.When(commands.EndSubscription{SubscriptionID: subscription, Reason: "moved"}).ThenEvents()
	s.When(commands.AssignAddresses{SubscriptionID: subscription, Addresses: addresses()}).
		ThenFails("subscription_ended")
	s.When(commands.AssignAddresses{SubscriptionID: subscription}).ThenNothing()
}

func TestCreate_TellsTheAddressesThatWereGiven(t *testing.T) {
	t.Parallel()
	c := create(events.Postpaid)
	c.Addresses = addresses()
	made := decidertest.For(t, aggregate(), now).When(c).ThenEvents()
	if diff := cmp.Diff(events.SubscriptionEvent(assigned(addresses())), made[1]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestCredentials_ANewPasswordRemembersTheOneBeforeIt(t *testing.T) {
	t.Parallel()
	one, two := id.Derive[id.Secret]("test", "one"), id.Derive[id.Secret]("test", "two")
	c := create(events.Prepaid)
	c.PasswordRef = one
	s := decidertest.For(t, aggregate(), now).When(c)
	s.ThenEvents()
	set := func(username string, ref id.Secret) commands.SetCredentials {
		return commands.SetCredentials{
			SubscriptionID: subscription, Username: personal.Of(username), PasswordRef: ref,
		}
	}
	s.When(set("jane", one)).ThenNothing()
	s.When(set("joan", one)).Then(events.SubscriptionCredentialsSet{
		SubscriptionID: subscription, SubscriberID: subscriber, Username: personal.Of("joan"), PasswordRef: one,
		At: now,
	})
	if state := s.State(); !state.FormerRef.IsZero() {
		t.Errorf("former %s", state.FormerRef)
	}
	s.When(set("joan", two)).ThenEvents()
	s.SurvivesClosing()
	state := s.State()
	if state.PasswordRef != two || state.FormerRef != one || state.Username.Reveal() != "joan" {
		t.Errorf("state %+v", state)
	}
	want := []string{"username " + org.String() + "/joan username_taken"}
	if diff := cmp.Diff(want, claims(aggregate().Claims(state))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	s.When(commands.ShowCredentials{SubscriptionID: subscription, PasswordRef: two}).
		Then(events.SubscriptionCredentialsShown{
			SubscriptionID: subscription, SubscriberID: subscriber, PasswordRef: two, At: now,
		})
	s.When(commands.EndSubscription{SubscriptionID: subscription, Reason: "moved"}).ThenEvents()
	s.When(set("jane", two)).ThenFails("subscription_ended")
}

func TestReopened_AnOpeningWithoutAPasswordNamesTheFirst(t *testing.T) {
	t.Parallel()
	for _, form := range []int{0, 2, 3} {
		s := aggregate().Evolve(subscribers.Subscription{}, events.SubscriptionPeriodClosed{
			SubscriptionID: subscription, Username: personal.Of("jane"),
			Opening: fmt.Appendf(nil, `{"form":%d,"id":%q,"subscription":%q}`, form, subscription, subscription),
		})
		if s.PasswordRef != commands.FirstPassword(subscription) {
			t.Errorf("form %d: reference %s", form, s.PasswordRef)
		}
	}
}

// TestUsernames_ThatLookAlikeAreClaimedOnce: the claim has the folded name, and the event the name as it was given.
func TestUsernames_ThatLookAlikeAreClaimedOnce(t *testing.T) {
	t.Parallel()
	for name, folded := range map[string]string{
		"aabb.ccdd.ee0f": "AA:BB:CC:DD:EE:0F", "AA-BB-CC-DD-EE-0F": "AA:BB:CC:DD:EE:0F", "sen\u0303or": "señor",
		"casa  12": "casa 12", "Amina": "Amina",
	} {
		s := prepaid(t)
		ref := id.New[id.Secret]()
		s.When(commands.SetCredentials{SubscriptionID: subscription, Username: personal.Of(name), PasswordRef: ref}).
			Then(events.SubscriptionCredentialsSet{
				SubscriptionID: subscription, SubscriberID: subscriber, Username: personal.Of(name), PasswordRef: ref,
				At: now,
			})
		want := []string{"username " + org.String() + "/" + folded + " username_taken"}
		if diff := cmp.Diff(want, claims(aggregate().Claims(s.State()))); diff != "" {
			t.Errorf("%q (-want +got)\n%s", name, diff)
		}
	}
}
