package directory_test

import (
	"testing"

	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// TestDirectory_EqualUsernamesSignInAlike: a device sends the notation of its router, and a name with other capitals is
// another one.
func TestDirectory_EqualUsernamesSignInAlike(t *testing.T) {
	t.Parallel()
	for stored, sent := range map[string]string{
		"AA:BB:CC:DD:EE:0F": "aabb.ccdd.ee0f", "aabbccddee0f": "AA-BB-CC-DD-EE-0F", "se\u00f1or": "sen\u0303or",
		"casa 12": "casa 12", "_guest1": "_guest1", "b/12:#+": "b/12:#+",
	} {
		s, i := newSafe(), newISP()
		k := newKit(t, s, append(i.begin(s, "127.0.0.1", stored, "pw"), i.paid(noon.AddDate(0, 1, 0))...)...)
		k.accepted(request(sent, "pw"))
		k.refused(request(sent, "no"), directory.CodeWrongPassword)
		k.refused(request("Casa 12", "pw"), directory.CodeUnknownUser)
		k.owns(i.org, online(sent), i.subscription)
		if !k.dir.Present(i.subscription, noon).Names(online(sent)) {
			t.Errorf("a session of %q is ended as one of another name than %q", sent, stored)
		}
		k.apply(i.isCalled("other"))
		k.refused(request(sent, "pw"), directory.CodeUnknownUser)
		k.owns(i.org, online(sent), i.subscription)
	}
}

// TestDirectory_ARealmIsStrippedWhereTheOrganizationWantsIt, and whoever has the whole name comes first.
func TestDirectory_ARealmIsStrippedWhereTheOrganizationWantsIt(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "jane", "pw"), i.paid(noon.AddDate(0, 1, 0))...)...)
	realms := []string{`ISP\jane`, "jane@isp.example"}
	for _, name := range realms {
		k.refused(request(name, "pw"), directory.CodeUnknownUser)
	}
	strip := func(on bool) {
		k.apply(events.BillingSettingsAdopted{
			OrgID: i.org, Billing: events.BillingSettings{Timezone: "Africa/Nairobi", StripRealm: on},
		})
	}
	strip(true)
	for _, name := range realms {
		k.accepted(request(name, "pw"))
		k.refused(request(name, "no"), directory.CodeWrongPassword)
		k.owns(i.org, online(name), i.subscription)
		k.owns(id.New[id.Organization](), online(name), id.Subscription{})
	}
	k.refused(request("joan@isp.example", "pw"), directory.CodeUnknownUser)
	whole := i.next()
	k.apply(events.SubscriptionCreated{
		SubscriptionID: whole.subscription, OrgID: i.org, SubscriberID: whole.subscriber, Terms: i.terms,
		StartsAt: noon, Username: personal.Of("jane@isp.example"), PasswordRef: s.put("other"), CreatedAt: noon,
	})
	k.owns(i.org, online("jane@isp.example"), whole.subscription)
	k.owns(i.org, online(`ISP\jane`), i.subscription)
	strip(false)
	k.refused(request(`ISP\jane`, "pw"), directory.CodeUnknownUser)
	plain := request("jane", "pw")
	if answer := k.ask(plain); answer.Code != layeh.CodeAccessAccept {
		t.Errorf("the plain name: %v %s", answer.Code, rfc2865.ReplyMessage_GetString(answer))
	}
}
